#!/bin/sh
# Runs every test program under compute-sanitizer's memcheck, four at a time. Usage: ./memcheck RESULTS
#
# Refusals of the driver are provoked by the tests, and are not what is looked for. Tests that look at
# time, at free memory or at how a process dies can fail under the tool: what counts is its summary,
# which a program that makes no driver call has not got.
here=$(cd "$(dirname "$0")" && pwd)
results=$1
mkdir -p "$results"
export results CUDA_TEST_ON=device CUDA_TEST_RESULTS="$results/outcomes.jsonl"
checked='
    name=$(basename "$1")
    timeout 400 compute-sanitizer --tool memcheck --target-processes all --report-api-errors no \
        --error-exitcode 86 "$1" --test-threads=2 >"$results/$name.txt" 2>&1
    echo "exit status: $?" >>"$results/$name.txt"
    echo "$name: $(grep -h "ERROR SUMMARY\|terminated before" "$results/$name.txt" | sort | uniq -c)"
'
ls "$here"/tests/* | xargs -P 4 -I{} sh -c "$checked" sh {}
