{{- define "kepler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "kepler.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "kepler.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "kepler.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "kepler.requireServiceName" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "kepler.fullname" .)) -}}
{{- fail (printf "%s is not a valid service name (it must start with a letter and have no dot): set fullnameOverride" (include "kepler.fullname" .)) -}}
{{- end -}}
{{- end -}}

{{- define "kepler.namespace" -}}
{{- default .Release.Namespace .Values.namespace.name -}}
{{- end -}}

{{/* Name of objects without a namespace. It is unique for each release. */}}
{{- define "kepler.clusterWideName" -}}
{{- printf "%s-%s" (include "kepler.namespace" .) (include "kepler.fullname" .) -}}
{{- end -}}

{{- define "kepler.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "kepler.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.create: false needs a serviceAccount.name, or every pod of the namespace would get the rights" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "kepler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kepler.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of all objects. Argument: list of the context and more labels. Labels of the selector cannot be overridden. */}}
{{- define "kepler.labels" -}}
{{- $root := index . 0 -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_")
  "app.kubernetes.io/managed-by" $root.Release.Service
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/component" "exporter"
  "app.kubernetes.io/part-of" "kepler" -}}
{{- $labels = mergeOverwrite $labels (default dict $root.Values.labels) (default dict (index . 1)) (include "kepler.selectorLabels" $root | fromYaml) -}}
{{- toYaml $labels -}}
{{- end -}}

{{/* "metadata:" of all objects. Argument: list of the context, the name, more labels, more annotations. */}}
{{- define "kepler.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 | quote }}
labels:
  {{- include "kepler.labels" (list $root (index . 2)) | nindent 2 }}
{{- with merge dict (default dict (index . 3)) (default dict $root.Values.annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels of the pod of "helm test". They are not the selector's, because the service must not send scrapes to that pod. */}}
{{- define "kepler.testLabels" -}}
app.kubernetes.io/name: {{ printf "%s-test" (include "kepler.name" . | trunc 58 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Name of the objects of "helm test". */}}
{{- define "kepler.testName" -}}
{{- printf "%s-test-scrape" (include "kepler.fullname" . | trunc 50 | trimSuffix "-") -}}
{{- end -}}

{{- define "kepler.image" -}}
{{- if and (eq .Values.image.repository "kepler") (not .Values.image.allowPlaceholder) -}}
{{- fail "image.repository: there is no public image: build yours from deploy/Dockerfile, push it, and set image.repository; or set image.allowPlaceholder if the nodes already have an image named kepler" -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}
