# Short names for the scripts, which also work without make.
.PHONY: run demo test build package image fuzz tidy format docs chart ci clean e2e-kubernetes model-demo lab lab-long

run:     ; tools/run.sh
demo:    ; tools/demo.sh
test:    ; tools/test.sh
build:   ; tools/setup.sh build && cmake --preset release && cmake --build --preset release
package: ; tools/package.sh
image:   ; tools/image.sh
fuzz:    ; tools/fuzz.sh
tidy:    ; tools/tidy.sh
format:  ; bash -c 'source tools/lib.sh && source_files | xargs clang-format-19 -i'
docs:    ; tools/docs.sh
chart:   ; tools/chart.sh
ci:      ; .ci/run

# Long test suites.
e2e-kubernetes: ; tools/e2e_kubernetes.sh
model-demo:     ; tools/model_demo.sh
lab:            ; tools/lab.sh
lab-long:       ; tools/lab.sh long

clean:   ; rm -rf build
