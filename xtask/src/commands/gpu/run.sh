#!/bin/sh
# Runs every test program on the real driver. Usage: ./run RESULTS [NAME...]
# A program that has left its results there is not run again; remove its file to repeat it.
here=$(cd "$(dirname "$0")" && pwd)
results=$1
shift
mkdir -p "$results"
export CUDA_TEST_ON=device CUDA_TEST_RESULTS="$results/outcomes.jsonl"
cp "$here/commit" "$results/commit"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$results/device" 2>&1
for example in doctor bandwidth; do
    [ -x "$here/examples/$example" ] && "$here/examples/$example" >"$results/$example" 2>&1
done
for program in "$here"/tests/*; do
    name=$(basename "$program")
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    [ -e "$results/$name.txt" ] && continue
    timeout 300 "$program" --test-threads=1 >"$results/$name.part" 2>&1
    echo "exit status: $?" >>"$results/$name.part"
    mv "$results/$name.part" "$results/$name.txt"
    tail -n 3 "$results/$name.txt"
done
