//! What may differ, each with its reason. An exception that nothing needs is a problem too.

use std::collections::BTreeSet;

use crate::release::Release;

const RENAMED: &str = "a later release gave the same record another tag";
const NEWEST: &str = "the record says its version, and the type's name means the newest";

/// Lists what a signature calls otherwise in an older release: then, now, and why that is the same.
const RENAMED_TAGS: &[(&str, &str, &str)] = &[
    ("CUDA_BATCH_MEM_OP_NODE_PARAMS_st", "CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st", RENAMED),
    ("CUDA_MEM_ALLOC_NODE_PARAMS_st", "CUDA_MEM_ALLOC_NODE_PARAMS_v1_st", RENAMED),
    ("CUkernelNodeAttrID_enum", "CUlaunchAttributeID_enum", RENAMED),
    ("CUkernelNodeAttrValue_union", "CUlaunchAttributeValue_union", RENAMED),
    ("CUstreamAttrID_enum", "CUlaunchAttributeID_enum", RENAMED),
    ("CUstreamAttrValue_union", "CUlaunchAttributeValue_union", RENAMED),
    ("nvmlProcessInfo_st", "nvmlProcessInfo_v2_st", RENAMED),
    ("nvmlGpuFabricInfo_v2_t", "nvmlGpuFabricInfo_v3_t", NEWEST),
    ("nvmlVgpuPlacementList_v1_t", "nvmlVgpuPlacementList_v2_t", NEWEST),
];

const RESERVED: &str = "later members take their place out of it";

/// Lists members that a later release doesn't have, or has elsewhere.
const FIELDS: &[(&str, &str)] = &[
    ("CUmemPoolProps_st.reserved", RESERVED),
    ("CUcheckpointCheckpointArgs_st.reserved", RESERVED),
    ("CUcheckpointRestoreArgs_st.reserved", RESERVED),
    ("CUcheckpointRestoreArgs_st.reserved1", RESERVED),
    ("CU_DEV_SM_RESOURCE_GROUP_PARAMS_st.reserved", RESERVED),
    ("nvmlGpuFabricInfo_t.partitionId", "12.1 calls the member cliqueId"),
    ("nvmlVgpuSchedulerGetState_st.isEnabledARR", "12.1 calls the member arrMode"),
    ("nvmlVgpuSchedulerLog_st.isEnabledARR", "12.1 calls the member arrMode"),
];

/// Lists deprecations that a C compiler sees later than the headers say them.
pub(super) const UNSEEN: &[Unseen] = &[Unseen {
    library: "nvml",
    seen: Release::from_number(13010),
    said: Release::from_number(13000),
    but: &[
        "nvmlDeviceWorkloadPowerProfileClearRequestedProfiles",
        "nvmlDeviceWorkloadPowerProfileSetRequestedProfiles",
    ],
}];

/// Is a release whose headers mark functions with a word that they define as nothing.
pub(super) struct Unseen {
    pub(super) library: &'static str,
    /// The release in which a compiler sees the marks.
    pub(super) seen: Release,
    /// The release that has them.
    pub(super) said: Release,
    /// The functions that were marked only when a compiler saw it.
    pub(super) but: &'static [&'static str],
}

const DEBUGGER: &str = "an entry for debuggers, which no header declares";
const INTERNAL: &str = "exported, and in no header";

/// Lists what libraries export and no header declares, by the start of the name.
const UNDECLARED: &[(&str, &str)] = &[
    ("cudbg", DEBUGGER),
    ("cuEGLApiInit", INTERNAL),
    ("cuMemGetAttribute", INTERNAL),
    ("nvmlGetBlacklistDeviceCount", "the former name of nvmlGetExcludedDeviceCount"),
    ("nvmlGetBlacklistDeviceInfoByIndex", "the former name of nvmlGetExcludedDeviceInfoByIndex"),
    ("nvmlInternalGetExportTable", INTERNAL),
    ("nvmlRetry_NvRmControl", INTERNAL),
];

const OTHER_PLATFORM: &str = "no driver of Linux on x86-64 has it";
const WITHDRAWN: &str = "the headers of one or two releases declare it, and none since";
const STUB: &str = "the stub has no part of VDPAU";

/// Lists what headers declare and libraries don't export: the symbol, the lists' names start with,
/// the release from which it is there after all.
const UNEXPORTED: &[(&str, &str, u32, &str)] = &[
    ("cuEventCreateFromEGLSync", "", u32::MAX, OTHER_PLATFORM),
    ("cuDeviceGetLuid", "driver", 11020, "on Linux it came later than on Windows"),
    ("cuGraphicsVDPAURegisterOutputSurface", "stub", u32::MAX, STUB),
    ("cuGraphicsVDPAURegisterVideoSurface", "stub", u32::MAX, STUB),
    ("cuVDPAUCtxCreate", "stub", u32::MAX, STUB),
    ("cuVDPAUCtxCreate_v2", "stub", u32::MAX, STUB),
    ("cuVDPAUGetDevice", "stub", u32::MAX, STUB),
    ("nvmlDeviceCcuGetStreamState", "nvml", u32::MAX, WITHDRAWN),
    ("nvmlDeviceCcuSetStreamState", "nvml", u32::MAX, WITHDRAWN),
    ("nvmlDeviceGetPowerMode", "nvml", u32::MAX, WITHDRAWN),
    ("nvmlDeviceGetSupportedPowerModes", "nvml", u32::MAX, WITHDRAWN),
    ("nvmlDeviceSetPowerMode", "nvml", u32::MAX, WITHDRAWN),
];

/// Lists what the Python package has of its own, by a part of the name.
const PUBLISHED: &[(&str, &str)] = &[
    ("_INTERNAL_LOADING_ERROR", "the package's own status"),
    ("_anon_pod_member", "the package's name of an unnamed part"),
    ("RESOURCE_ABI_EXTERNAL_BYTES", "48 in every header that has it"),
];

/// Remembers which exceptions were needed.
#[derive(Default)]
pub(crate) struct Excuses {
    used: BTreeSet<&'static str>,
}

impl Excuses {
    /// Tells whether two signatures are one but for tags that were renamed.
    pub(super) fn renames(&mut self, old: &str, new: &str) -> bool {
        let mut text = old.to_owned();
        for (before, after, _) in RENAMED_TAGS {
            if text.contains(before) {
                self.used.insert(before);
                text = text.replace(before, after);
            }
        }
        text == new
    }

    /// Tells whether a member may be gone or elsewhere.
    pub(super) fn field(&mut self, name: &str) -> bool {
        self.listed(FIELDS, name)
    }

    /// Tells whether a library may export what no header declares.
    pub(super) fn undeclared(&mut self, symbol: &str) -> bool {
        let listed = UNDECLARED.iter().find(|(start, _)| symbol.starts_with(start));
        self.used.extend(listed.map(|(name, _)| *name));
        listed.is_some()
    }

    /// Tells whether a library may lack what a header declares.
    pub(super) fn unexported(&mut self, symbol: &str, list: &str, release: Release) -> bool {
        let listed = UNEXPORTED.iter().find(|(name, start, from, _)| {
            *name == symbol && list.starts_with(start) && release.number() < *from
        });
        self.used.extend(listed.map(|(name, ..)| *name));
        listed.is_some()
    }

    /// Tells whether the Python package may have what the headers don't.
    pub(super) fn published(&self, name: &str) -> bool {
        PUBLISHED.iter().any(|(part, _)| name.contains(part))
    }

    fn listed(&mut self, table: &'static [(&'static str, &'static str)], name: &str) -> bool {
        let listed = table.iter().find(|(listed, _)| *listed == name);
        self.used.extend(listed.map(|(name, _)| *name));
        listed.is_some()
    }

    /// Lists the exceptions that none of the libraries needed.
    pub(crate) fn unused(&self, libraries: &[String]) -> Vec<String> {
        let tags = RENAMED_TAGS.iter().map(|(tag, ..)| tag);
        let pairs = [FIELDS, UNDECLARED].into_iter().flatten().map(|(name, _)| name);
        let names = tags.chain(pairs).chain(UNEXPORTED.iter().map(|(name, ..)| name));
        let is_looked_at = |name: &&&str| match name.starts_with("nvml") {
            true => libraries.iter().any(|library| library == "nvml"),
            false => libraries.iter().any(|library| library == "driver"),
        };
        let unused = names.filter(|name| !self.used.contains(*name)).filter(is_looked_at);
        unused.map(|name| format!("stale: nothing needs the exception for {name}")).collect()
    }
}
