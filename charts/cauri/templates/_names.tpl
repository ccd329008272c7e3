{{/* Names and labels. */}}

{{- define "cauri.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* 44 characters, so that there is room for the longest of the names made from it. */}}
{{- define "cauri.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- else if contains (include "cauri.name" .) .Release.Name -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "cauri.name" .) | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* The name of the installation, by which it marks its sandboxes. */}}
{{- define "cauri.installation" -}}
{{- .Values.installation | default (printf "%s/%s" .Release.Namespace (include "cauri.fullname" .)) -}}
{{- end }}

{{/* The beginning of the names of what belongs to the whole cluster. In another namespace than the usual one it has the namespace, so that
     two releases of one name do not collide. */}}
{{- define "cauri.clusterName" -}}
{{- if ne .Release.Namespace "cauri-system" }}{{ .Release.Namespace }}-{{ end }}{{ include "cauri.fullname" . -}}
{{- end }}

{{/* What the pods of a component are selected by: (list $ "api"). It never changes, since a Deployment's selector cannot. */}}
{{- define "cauri.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "cauri.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object of a component: (list $ "api"). */}}
{{- define "cauri.labels" -}}
{{- $root := index . 0 -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" ($root.Chart.AppVersion | replace "+" "_" | trunc 63)
  "app.kubernetes.io/managed-by" $root.Release.Service
  "app.kubernetes.io/part-of" "cauri" -}}
{{- toYaml (mergeOverwrite (deepCopy $root.Values.commonLabels) $labels (include "cauri.selectorLabels" . | fromYaml)) -}}
{{- end }}

{{/* Labels of a pod of a component, with those of its own: (list $ "api" .Values.api.podLabels). Without the chart's version, so that a
     chart which changes nothing of a pod does not restart it. */}}
{{- define "cauri.podLabels" -}}
{{- $root := index . 0 -}}
{{- toYaml (mergeOverwrite (deepCopy $root.Values.commonLabels) (deepCopy (index . 2))
  (dict "app.kubernetes.io/part-of" "cauri") (include "cauri.selectorLabels" . | fromYaml)) -}}
{{- end }}

{{/* The image of an `image` value: (list .Values.image "tag if there is none"). */}}
{{- define "cauri.image" -}}
{{- $image := index . 0 -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default (index . 1) }}{{ end -}}
{{- end }}

{{/* The name of a component's ServiceAccount: (list $ "api"). */}}
{{- define "cauri.serviceAccountName" -}}
{{- $root := index . 0 -}}
{{- index $root.Values (index . 1) "serviceAccount" "name" | default (printf "%s-%s" (include "cauri.fullname" $root) (index . 1)) -}}
{{- end }}

{{- define "cauri.encryptionSecret" -}}
{{- .Values.encryption.existingSecret | default (printf "%s-encryption" (include "cauri.fullname" .)) -}}
{{- end }}

{{- define "cauri.pinSecret" -}}
{{- .Values.pinKey.existingSecret | default (printf "%s-pin-key" (include "cauri.fullname" .)) -}}
{{- end }}

{{- define "cauri.credentialSecret" -}}
{{- .Values.credentialKey.existingSecret | default (printf "%s-credential-key" (include "cauri.fullname" .)) -}}
{{- end }}

{{/* The URL of the API inside of the cluster. The search list of every pod completes it, whatever the cluster's domain is. */}}
{{- define "cauri.serviceURL" -}}
http://{{ include "cauri.fullname" . }}-api.{{ .Release.Namespace }}.svc
{{- if ne (int .Values.api.service.port) 80 }}:{{ .Values.api.service.port }}{{ end }}
{{- end }}

{{/* The host names that merchants call, that of the consoles, and those of the operators' APIs: (list $ hosts). */}}
{{- define "cauri.hosts" -}}
{{- $values := (first .).Values -}}
{{- $hosts := last . | default list -}}
{{- with $values.console.host -}}
{{- if has . $hosts -}}
{{- fail (printf "console.host serves the consoles alone: give it another name than the merchants' host %s, or leave it empty" .) -}}
{{- end -}}
{{- $hosts = append $hosts . -}}
{{- end -}}
{{- with $values.api.operatorDomain -}}{{- $hosts = append $hosts (printf "*.%s" .) -}}{{- end -}}
{{- toYaml ($hosts | uniq) -}}
{{- end }}

{{/* The flag of the api and of the controller for the hosts of the operators' APIs. */}}
{{- define "cauri.operatorDomainArg" -}}
{{- with .Values.api.operatorDomain -}}
- --operator-domain={{ . }}
{{- end -}}
{{- end }}

{{/* The URL that the sandboxes' status and Secrets tell merchants. */}}
{{- define "cauri.baseURL" -}}
{{- if .Values.api.baseURL -}}
{{- .Values.api.baseURL | trimSuffix "/" -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- ternary "https" "http" (not (empty .Values.ingress.tls)) }}://{{ first .Values.ingress.hosts }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
{{- fail (printf "set api.baseURL to the URL that merchants call through the Gateway, for example https://%s: whether its listener has TLS only you know" (first .Values.httpRoute.hostnames)) -}}
{{- else -}}
{{- include "cauri.serviceURL" . -}}
{{- end -}}
{{- end }}

{{/* Where `helm test` makes its sandbox: it has to be carried out there. */}}
{{- define "cauri.testNamespace" -}}
{{- first (append .Values.watchNamespaces .Release.Namespace) -}}
{{- end }}

{{/* Annotations of what outlives the release, for Helm and for Argo CD. */}}
{{- define "cauri.keep" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false,Delete=false
{{- end }}
