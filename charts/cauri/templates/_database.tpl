{{/* How the processes reach the database. */}}

{{- define "cauri.databaseSecret" -}}
{{ include "cauri.fullname" . }}-database
{{- end }}

{{/* Whether the chart brings the database, and so the passwords of its users. */}}
{{- define "cauri.ownsDatabase" -}}
{{- if ne .Values.database.mode "existingSecret" -}}
{{- with .Values.database.existingSecret.name -}}
{{- fail (printf "database.existingSecret.name is %s, and database.mode is %s: set database.mode to existingSecret, or remove the name" . $.Values.database.mode) -}}
{{- end -}}
true
{{- end -}}
{{- end }}

{{/* The URL of a database that the chart brings, without a password: (list $ "user" "rw"). CloudNativePG has a Service for reading and
     writing, and one for reading. */}}
{{- define "cauri.databaseURL" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.database.mode "embedded" -}}
postgres://{{ index . 1 }}@{{ include "cauri.fullname" $root }}-postgres:5432/cauri?sslmode=disable
{{- else -}}
postgres://{{ index . 1 }}@{{ include "cauri.fullname" $root }}-postgres-{{ index . 2 }}:5432/cauri?sslmode=require
{{- end -}}
{{- end }}

{{/* The key of the Secret with which a process logs in: (list $ "api"), or "owner" for migrations. */}}
{{- define "cauri.databaseKey" -}}
{{- $keys := (index . 0).Values.database.existingSecret.keys -}}
{{- ternary (printf "%s-password" (index . 1)) (index $keys (index . 1) | default $keys.owner) (eq (include "cauri.ownsDatabase" (index . 0)) "true") -}}
{{- end }}

{{/* The Secret in which it is. */}}
{{- define "cauri.databaseKeySecret" -}}
{{- if include "cauri.ownsDatabase" . -}}
{{ include "cauri.databaseSecret" . }}
{{- else -}}
{{ required "database.mode is existingSecret: set database.existingSecret.name to the Secret that holds the database's URL" .Values.database.existingSecret.name }}
{{- end -}}
{{- end }}

{{/* The environment with which migrations log in. The password is a variable of its own that Postgres' clients know, so that it is in
     no URL. */}}
{{- define "cauri.ownerEnv" -}}
{{- if eq .Values.database.mode "existingSecret" }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "cauri.databaseKeySecret" . }}
      key: {{ include "cauri.databaseKey" (list . "owner") }}
{{- else if eq .Values.database.mode "cloudnativepg" }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: # made by the operator
      name: {{ include "cauri.fullname" . }}-postgres-app
      key: uri
{{- else }}
- name: DATABASE_URL
  value: {{ include "cauri.databaseURL" (list . "cauri" "rw") }}
- name: PGPASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "cauri.databaseSecret" . }}
      key: owner-password
{{- end }}
{{- end }}

{{/* The environment with which a process logs in: (list $ "api"). The process reads the files of cauri.databaseVolume again for each
     connection, so that a password changes without a restart. */}}
{{- define "cauri.databaseEnv" -}}
{{- $root := index . 0 -}}
- name: DATABASE_URL
  value: {{ if include "cauri.ownsDatabase" $root -}}
    {{ include "cauri.databaseURL" (list $root (printf "cauri_%s_user" (index . 1)) "rw") }}&password_file=/etc/cauri/database/login
  {{- else -}}
    file:/etc/cauri/database/login
  {{- end }}
{{- end }}

{{/* The files of cauri.databaseEnv and cauri.replicaEnv: (list $ "api"). */}}
{{- define "cauri.databaseVolume" -}}
{{- $root := index . 0 -}}
{{- $read := and (eq $root.Values.database.mode "existingSecret") (eq (index . 1) "api") $root.Values.database.existingSecret.keys.read -}}
- name: database
  secret:
    secretName: {{ include "cauri.databaseKeySecret" $root }}
    defaultMode: 0440
    items:
    - key: {{ include "cauri.databaseKey" . }}
      path: login
    {{- with $read }}
    - key: {{ . }}
      path: read
    {{- end }}
{{- end }}

{{- define "cauri.databaseMount" -}}
- name: database
  mountPath: /etc/cauri/database
  readOnly: true
{{- end }}

{{/* Where the api reads lists, if not from the database itself. */}}
{{- define "cauri.replicaEnv" -}}
{{- $database := .Values.database -}}
{{- if and (eq $database.mode "existingSecret") $database.existingSecret.keys.read }}
- name: DATABASE_READ_URL
  value: file:/etc/cauri/database/read
{{- else if and (eq $database.mode "cloudnativepg") $database.cloudnativepg.readFromReplicas }}
{{- if lt (int $database.cloudnativepg.instances) 2 }}
{{- fail "database.cloudnativepg.readFromReplicas needs a replica: set database.cloudnativepg.instances to 2 or more" }}
{{- end }}
- name: DATABASE_READ_URL
  value: {{ include "cauri.databaseURL" (list . "cauri_api_user" "ro") }}&password_file=/etc/cauri/database/login
{{- end }}
{{- end }}
