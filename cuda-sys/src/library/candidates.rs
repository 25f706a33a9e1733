//! Where a library may be, in order: the loader's own answer, known folders, and last the name
//! without a version.

use std::path::PathBuf;

use super::{InstalledBy, Specification};

/// Is one place to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// A name that the system's loader looks up.
    Name(&'static str),
    /// A file in a known folder.
    Path(PathBuf),
}

/// Returns every candidate in the order in which they are tried.
pub(super) fn candidates(specification: &Specification) -> Vec<Candidate> {
    if cfg!(windows) {
        return specification.windows_names.iter().copied().map(Candidate::Name).collect();
    }
    let names = specification.sonames.iter().copied().map(Candidate::Name);
    let in_folders = folders(specification.installed_by).into_iter().flat_map(|folder| {
        let path = move |name: &&str| Candidate::Path(PathBuf::from(&folder).join(name));
        specification.sonames.iter().map(path)
    });
    let last = Candidate::Name(specification.development_name);
    names.chain(in_folders).chain([last]).collect()
}

/// Returns the folders that are not always on the loader's search path.
fn folders(installed_by: InstalledBy) -> Vec<String> {
    let multi_arch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = match installed_by {
        InstalledBy::Driver => vec![
            // The Windows driver, seen from WSL.
            "/usr/lib/wsl/lib".to_owned(),
            multi_arch.clone(),
            format!("{multi_arch}/nvidia/current"),
            "/usr/lib64".to_owned(),
            // NixOS links its driver here.
            "/run/opengl-driver/lib".to_owned(),
            // Container runtimes mount it here.
            "/usr/local/nvidia/lib64".to_owned(),
        ],
        InstalledBy::Toolkit => {
            vec!["/usr/local/cuda/lib64".to_owned(), "/opt/cuda/lib64".to_owned(), multi_arch]
        }
    };
    if cfg!(target_os = "linux") { folders } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        candidates(crate::LIBRARY.specification())
            .into_iter()
            .map(|candidate| match candidate {
                Candidate::Name(name) => name.to_owned(),
                Candidate::Path(path) => path.display().to_string(),
            })
            .collect()
    }

    /// Rows 6 and 7 of the log of public reports.
    #[test]
    #[cfg(target_os = "linux")]
    fn reports_06_07_versioned_name_first_then_known_folders_development_name_last() {
        let names = names();
        assert_eq!(names.first().unwrap(), "libcuda.so.1");
        assert_eq!(names.last().unwrap(), "libcuda.so");
        assert!(names.contains(&"/usr/lib/wsl/lib/libcuda.so.1".to_owned()));
        assert!(names.contains(&"/run/opengl-driver/lib/libcuda.so.1".to_owned()));
        assert!(names.iter().any(|name| name.contains("-linux-gnu/libcuda.so.1")));
    }
}
