{{- define "janus.Deployment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $selector := fromYaml (include "janus.selector" .root) -}}
{{- $_ := set .object.spec "replicas" $values.replicas -}}
{{- $_ := set .object.spec.selector "matchLabels" $selector -}}
{{- $metadata := .object.spec.template.metadata -}}
{{- $_ := set $metadata "labels" (merge (fromYaml (include "janus.labels" .root)) $values.podLabels) -}}
{{- with $values.podAnnotations }}{{ $_ := set $metadata "annotations" . }}{{ end -}}
{{- $pod := .object.spec.template.spec -}}
{{- range $pod.topologySpreadConstraints }}{{ $_ := set .labelSelector "matchLabels" $selector }}{{ end -}}
{{- with $values.image.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- include "janus.placement" (dict "pod" $pod "values" $values) -}}
{{- include "janus.container" (dict "root" $root "pod" $pod "container" (first $pod.containers)) -}}
{{- end -}}

{{- /* Where the Pods of the hook, and of Metacontroller, may run. */ -}}
{{- define "janus.placement" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $.values $key }}{{ $_ := set $.pod $key . }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "janus.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest }}{{ printf "%s@%s" $image.repository $image.digest }}{{ else }}{{ printf "%s:%s" $image.repository ($image.tag | default .Chart.AppVersion) }}{{ end -}}
{{- end -}}

{{- define "janus.container" -}}
{{- $values := .root.Values -}}
{{- $container := .container -}}
{{- $_ := set $container "image" (include "janus.image" .root) -}}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy -}}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- $env := $container.env -}}
{{- range $env }}{{ if eq .name "LOG_LEVEL" }}{{ $_ := set . "value" $values.logLevel }}{{ end }}{{ end -}}
{{- if $values.namespaces }}
{{- $names := list -}}
{{- range $values.namespaces }}{{ $names = append $names .name }}{{ end -}}
{{- if $values.packages.enabled }}{{ $names = append $names "janus-packages" }}{{ end -}}
{{- $env = append $env (dict "name" "JANUS_NAMESPACES" "value" (join "," $names)) -}}
{{- end -}}
{{- if $values.tls.secretName }}
{{- $env = concat $env (list (dict "name" "JANUS_TLS_CERTIFICATE" "value" "/etc/janus/tls/tls.crt") (dict "name" "JANUS_TLS_KEY" "value" "/etc/janus/tls/tls.key")) -}}
{{- if $values.tls.clientSecretName }}{{ $env = append $env (dict "name" "JANUS_TLS_CLIENT_AUTHORITY" "value" "/etc/janus/tls/ca.crt") }}{{ end -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "tls" "mountPath" "/etc/janus/tls" "readOnly" true)) -}}
{{- $_ := set .pod "volumes" (append .pod.volumes (dict "name" "tls" "secret" (dict "secretName" $values.tls.secretName))) -}}
{{- range $probe := list "livenessProbe" "readinessProbe" }}{{ $_ := set (get (get $container $probe) "httpGet") "scheme" "HTTPS" }}{{ end -}}
{{- end -}}
{{- if $values.packages.enabled }}
{{- $env = concat $env (list (dict "name" "JANUS_PACKAGES" "value" "true") (dict "name" "JANUS_PACKAGES_CACHE" "value" "/var/cache/janus-packages")) -}}
{{- if ne $values.packages.crossplane "absent" }}{{ $env = append $env (dict "name" "JANUS_PACKAGES_CROSSPLANE" "value" $values.packages.crossplane) }}{{ end -}}
{{- if ne $values.packages.own "none" }}{{ $env = append $env (dict "name" "JANUS_PACKAGES_OWN" "value" $values.packages.own) }}{{ end -}}
{{- range $name, $key := fromYaml (include "janus.packageSettings" .root) }}
{{- $value := get $values.packages $key -}}
{{- if $value }}{{ $env = append $env (dict "name" $name "value" (kindIs "slice" $value | ternary (join "," $value) $value)) }}{{ end -}}
{{- end -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "packages" "mountPath" "/var/cache/janus-packages")) -}}
{{- $_ := set .pod "volumes" (append .pod.volumes (dict "name" "packages" "emptyDir" (dict "sizeLimit" "2Gi"))) -}}
{{- end -}}
{{- $given := list -}}
{{- range $values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- $own := list -}}
{{- range $env }}{{ if not (has .name $given) }}{{ $own = append $own . }}{{ end }}{{ end -}}
{{- $_ := set $container "env" (concat $own $values.extraEnv) -}}
{{- end -}}
