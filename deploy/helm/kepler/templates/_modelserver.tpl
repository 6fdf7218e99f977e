{{/* Name of the model server's objects, at most 52 characters: a StatefulSet adds 11 to it in a label of its pods. */}}
{{- define "kepler.modelServerName" -}}
{{- include "kepler.requireServiceName" . -}}
{{- printf "%s-model-server" (include "kepler.fullname" . | trunc 39 | trimSuffix "-") -}}
{{- end -}}

{{/* Labels of its pods. Their name is not that of the agent, or scrapes of agents would go here. */}}
{{- define "kepler.modelServerSelector" -}}
app.kubernetes.io/name: {{ printf "%s-model-server" (include "kepler.name" . | trunc 45 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* "metadata:" of its objects. Argument: list of the context and the name. */}}
{{- define "kepler.modelServerMetadata" -}}
{{- $root := index . 0 -}}
{{- $labels := mergeOverwrite (include "kepler.labels" (list $root dict) | fromYaml) (dict "app.kubernetes.io/component" "model-server") (include "kepler.modelServerSelector" $root | fromYaml) -}}
name: {{ index . 1 | quote }}
namespace: {{ include "kepler.namespace" $root | quote }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $root.Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The secret with which agents log in; empty if there is none. */}}
{{- define "kepler.modelServerLogin" -}}
{{- with .Values.modelServer -}}{{- if .enabled -}}{{- default "" .agents.secretName -}}{{- end -}}{{- end -}}
{{- end -}}

{{/* URL of the service for agents. */}}
{{- define "kepler.modelServerUrl" -}}
{{- $server := .Values.modelServer -}}
{{- printf "%s://%s.%s.svc:%d" (ternary "https" "http" (default false $server.web.tls)) (include "kepler.modelServerName" .) (include "kepler.namespace" .) (int64 $server.port) -}}
{{- end -}}

{{- define "kepler.modelServerImage" -}}
{{- $image := .Values.modelServer.image -}}
{{- if and (eq $image.repository "kepler-model") (not .Values.image.allowPlaceholder) -}}
{{- fail "modelServer.image.repository: there is no public image: build target model of deploy/Dockerfile, push it, and set modelServer.image.repository" -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Pod of the writer and of the readers. Argument: list of the context and "writer" or "reader". */}}
{{- define "kepler.modelServerPod" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $server := $root.Values.modelServer -}}
{{- $trains := and (eq $role "writer") (default false $server.jobs.enabled) -}}
{{- $retrain := ternary $server.retrain dict (and $trains (not (empty $server.retrain.name))) -}}
metadata:
  labels:
    {{- $labels := include "kepler.labels" (list $root dict) | fromYaml }}
    {{- mergeOverwrite $labels (dict "app.kubernetes.io/component" "model-server" "role" $role) (include "kepler.modelServerSelector" $root | fromYaml) | toYaml | nindent 4 }}
  {{- with $root.Values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # It asks no API server.
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 15
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    # The user of the image. The group may write to the volume.
    {{- $security := dict "fsGroup" 65532 "fsGroupChangePolicy" "OnRootMismatch" "runAsGroup" 65532 "runAsNonRoot" true "runAsUser" 65532 "seccompProfile" (dict "type" "RuntimeDefault") }}
    {{- range $key, $value := default dict $server.podSecurityContext }}
    {{- if kindIs "invalid" $value }}{{- $_ := unset $security $key }}{{- else }}{{- $_ := set $security $key $value }}{{- end }}
    {{- end }}
    {{- toYaml $security | nindent 4 }}
  {{- with $server.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $server.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $server.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: model-server
      image: {{ include "kepler.modelServerImage" $root | quote }}
      imagePullPolicy: {{ $server.image.pullPolicy | quote }}
      args:
        - serve
        - --store=/var/lib/kepler-models
        - --listen-address=:{{ int64 $server.port }}
        {{- if $server.web.secretName }}
        - --web-config-file=/etc/kepler-web/{{ $server.web.key }}
        {{- if not $server.agents.user }}
        # Agents send no login. Uploads need one.
        - --readers=open
        {{- end }}
        {{- end }}
        {{- if $trains }}
        - --jobs=/var/lib/kepler-jobs/jobs
        - --job-time={{ $server.jobs.time }}
        - --job-memory={{ int64 $server.jobs.memory }}
        {{- end }}
        {{- with $retrain.name }}
        - --retrain={{ . }}
        - {{ printf "--retrain-server=%s" $retrain.server | quote }}
        - {{ printf "--retrain-node=%s" (default "" $retrain.node) | quote }}
        - {{ printf "--retrain-features=%s" (join "," $retrain.features) | quote }}
        - {{ printf "--retrain-trainer=%s" $retrain.trainer | quote }}
        - --retrain-last={{ $retrain.last }}
        - --retrain-interval={{ $retrain.interval }}
        {{- end }}
        {{- with $retrain.machineConfigMap }}
        - --retrain-machine=/etc/kepler-model-machine/machine.json
        {{- end }}
        {{- with $retrain.signKeySecret }}
        - --retrain-sign-key=/etc/kepler-model-sign/key.pem
        {{- end }}
        {{- if eq $role "writer" }}
        {{- range $server.extraArgs }}
        - {{ quote . }}
        {{- end }}
        {{- end }}
      ports:
        - name: http
          containerPort: {{ int64 $server.port }}
          protocol: TCP
      {{- $probe := dict "httpGet" (dict "path" "/healthz" "port" "http" "scheme" (ternary "HTTPS" "HTTP" (default false $server.web.tls))) "timeoutSeconds" 5 }}
      {{- if $server.agents.user }}{{- /* Every page needs a login. */}}{{- $probe = dict "tcpSocket" (dict "port" "http") "timeoutSeconds" 5 }}{{- end }}
      livenessProbe:
        {{- merge (dict "initialDelaySeconds" 10 "periodSeconds" 30) $probe | toYaml | nindent 8 }}
      readinessProbe:
        {{- merge (dict "periodSeconds" 10) $probe | toYaml | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities:
          drop: [ALL]
        privileged: false
        readOnlyRootFilesystem: true
      {{- with $server.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - name: models
          mountPath: /var/lib/kepler-models
          {{- if eq $role "reader" }}
          readOnly: true
          {{- end }}
        {{- if $trains }}
        - name: jobs
          mountPath: /var/lib/kepler-jobs
        {{- end }}
        {{- if $retrain.machineConfigMap }}
        - name: machine
          mountPath: /etc/kepler-model-machine
          readOnly: true
        {{- end }}
        {{- if $retrain.signKeySecret }}
        - name: sign-key
          mountPath: /etc/kepler-model-sign
          readOnly: true
        {{- end }}
        {{- if $server.web.secretName }}
        - name: web
          mountPath: /etc/kepler-web
          readOnly: true
        {{- end }}
        {{- with $server.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- with include "kepler.modelServerVolumes" (list $root $role $trains $retrain) | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Volumes of a pod. Argument: list of the context, the role, whether it trains and the values of retraining. */}}
{{- define "kepler.modelServerVolumes" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $trains := index . 2 -}}
{{- $retrain := index . 3 -}}
{{- $server := $root.Values.modelServer -}}
{{- if $trains }}
- name: jobs
  emptyDir:
    sizeLimit: {{ $server.jobs.size | quote }}
{{- end }}
{{- with $retrain.machineConfigMap }}
- name: machine
  configMap:
    name: {{ . | quote }}
{{- end }}
{{- with $retrain.signKeySecret }}
- name: sign-key
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- if eq $role "reader" }}
- name: models
  persistentVolumeClaim:
    claimName: models-{{ include "kepler.modelServerName" $root }}-0
    readOnly: true
{{- end }}
{{- if $server.web.secretName }}
- name: web
  secret:
    secretName: {{ $server.web.secretName | quote }}
    defaultMode: 0440
{{- end }}
{{- with $server.extraVolumes }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{/* Refuses values of training that contradict each other. */}}
{{- define "kepler.modelServerCheckTraining" -}}
{{- $server := .Values.modelServer -}}
{{- if and $server.retrain.name (not $server.jobs.enabled) -}}
{{- fail "modelServer.retrain.name needs modelServer.jobs.enabled: each retraining is a job" -}}
{{- end -}}
{{- if and $server.retrain.name (not $server.retrain.server) -}}
{{- fail "modelServer.retrain.server is missing: set the URL of the Prometheus server with the measurements" -}}
{{- end -}}
{{- with (default dict (default dict $server.resources).limits).memory -}}
{{- if and $server.jobs.enabled (lt (include "kepler.bytes" . | int64) (mul (add $server.jobs.memory 256) 1048576)) -}}
{{- fail (printf "modelServer.jobs.memory: a job may use %d MiB, and the server 256 MiB: set modelServer.resources.limits.memory to at least both" (int64 $server.jobs.memory)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port in the URL of modelServer.retrain.server. */}}
{{- define "kepler.prometheusPort" -}}
{{- $url := urlParse .Values.modelServer.retrain.server -}}
{{- default (ternary "443" "80" (eq $url.scheme "https")) (regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host)) -}}
{{- end -}}

{{/* A rule of egress, for lookups of names. */}}
{{- define "kepler.lookups" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end -}}
