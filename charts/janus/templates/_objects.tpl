{{- /* A file of this chart. Without its files a chart would render next to nothing, and nobody would notice. */ -}}
{{- define "janus.file" -}}
{{- $text := .root.Files.Get .path -}}
{{- if not $text }}{{ fail (printf "the chart holds no %s: use a released chart, or the one that npm run pack:chart makes" .path) }}{{ end -}}
{{- $text -}}
{{- end -}}

{{- define "janus.selector" -}}
app.kubernetes.io/name: janus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "janus.labels" -}}
{{ include "janus.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: janus
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* The objects of one file, with the values worked in. `served`: the namespace that a Role is made for; `theirs`: the path of a file of
Metacontroller. */ -}}
{{- define "janus.objects" -}}
{{- $root := .root -}}
{{- $served := .served -}}
{{- $theirs := .theirs | default "" -}}
{{- $values := $root.Values -}}
{{- $text := .text | replace "janus-system" $root.Release.Namespace | replace "janus-hook-token" $values.token.secretName -}}
{{- range splitList "\n---\n" $text }}
{{- $object := fromYaml . -}}
{{- if and $object $object.kind }}
{{- $isWide := and (has $object.kind (list "ClusterRole" "ClusterRoleBinding")) (eq $object.metadata.name "janus") -}}
{{- $isReplaced := and (eq $theirs "metacontroller/metacontroller-rbac.yaml") (eq $object.kind "ClusterRole") (eq $object.metadata.name "metacontroller") -}}
{{- if not (or (and $isWide $values.namespaces) $isReplaced) }}
{{- $_ := set $object.metadata "labels" (merge (default dict $object.metadata.labels) (fromYaml (include "janus.labels" $root))) -}}
{{- $change := printf "janus.%s" $object.kind -}}
{{- if has $object.kind (list "CustomResourceDefinition" "Namespace" "Deployment" "Service" "PodDisruptionBudget" "NetworkPolicy" "CompositeController" "DecoratorController" "MutatingAdmissionPolicy" "ServiceAccount" "Role" "FlowSchema" "PrometheusRule" "ServiceMonitor") }}
{{- if not (and $theirs (has $object.kind (list "ServiceAccount" "Role"))) }}{{ include $change (dict "root" $root "object" $object) }}{{ end -}}
{{- end -}}
{{- if $served }}{{ include "janus.served" (dict "served" $served "object" $object) }}{{ end -}}
{{- if $theirs }}{{ include "janus.theirs" (dict "root" $root "object" $object) }}{{ end -}}
---
{{ toYaml $object }}
{{ end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Empty where the chart is rendered without a cluster, as by `helm template` and Argo CD: there `lookup` finds nothing, whatever exists.
The ClusterRole is in every cluster, and who installs the chart may read ClusterRoles. */ -}}
{{- define "janus.cluster" -}}
{{- if lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "cluster-admin" }}true{{ end -}}
{{- end -}}

{{- /* Settings of package transactions that are values as they are. */ -}}
{{- define "janus.packageSettings" -}}
JANUS_PACKAGES_AUTHORITY: authority
JANUS_PACKAGES_NO_PROXY: noProxy
JANUS_PACKAGES_PROXY: proxy
JANUS_PACKAGES_TRUSTED_ROOT: trustedRoot
JANUS_PACKAGES_WEBHOOK_SECRET: webhookSecret
{{- end -}}

{{- /* Values that each are well formed and do not go together. */ -}}
{{- define "janus.checks" -}}
{{- $names := list -}}
{{- range .Values.namespaces -}}
{{- if eq .name $.Release.Namespace }}{{ fail (printf "namespaces: expected namespaces other than %s, where the engine has a Role of the same name for its locks and its key; run Transactions elsewhere" .name) }}{{ end -}}
{{- if has .name $names }}{{ fail (printf "namespaces: expected each once, found %s twice; list all its ServiceAccounts in one entry" .name) }}{{ end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- if and .Values.packages.enabled (has "janus-packages" $names) }}{{ fail "namespaces: packages.enabled serves janus-packages already; take it from the list" }}{{ end -}}
{{- if eq .Values.token.secretName "janus-sealing-key" }}{{ fail "token.secretName: expected another Secret than janus-sealing-key, which holds the key of snapshots" }}{{ end -}}
{{- if and .Values.tls.clientSecretName (not .Values.tls.secretName) }}{{ fail "tls.clientSecretName: expected tls.secretName too: client certificates require TLS" }}{{ end -}}
{{- if and (ne .Values.packages.crossplane "absent") (or .Values.packages.kinds (not .Values.packages.enabled)) }}{{ fail "packages.crossplane: expected packages.enabled, and no packages.kinds, which Crossplane brings itself" }}{{ end -}}
{{- if and (ne .Values.packages.own "none") (not .Values.packages.enabled) }}{{ fail "packages.own: expected packages.enabled too, which serves the package transactions" }}{{ end -}}
{{- range $key := values (fromYaml (include "janus.packageSettings" .)) | sortAlpha }}
{{- if and (get $.Values.packages $key) (not $.Values.packages.enabled) }}{{ fail (printf "packages.%s: expected packages.enabled too, which serves the package transactions" $key) }}{{ end -}}
{{- end -}}
{{- /* Not in the schema: its message would show a password. */ -}}
{{- if not (regexMatch "^(https?://[^\\s/?#@]+/?)?$" .Values.packages.proxy) }}{{ fail "packages.proxy: expected http://HOST:PORT or https://HOST:PORT without credentials; take a URL with a password from a Secret, as JANUS_PACKAGES_PROXY in extraEnv" }}{{ end -}}
{{- if and .Values.packages.noProxy (not .Values.packages.proxy) }}{{ fail "packages.noProxy: expected packages.proxy too; for a proxy in extraEnv set JANUS_PACKAGES_NO_PROXY there" }}{{ end -}}
{{- if and .Values.packages.kinds (not .Values.packages.enabled) }}{{ fail "packages.kinds: expected packages.enabled too, which serves them" }}{{ end -}}
{{- if eq .Values.sealingKey.source "chart" -}}
{{- if not (include "janus.cluster" .) }}{{ fail "sealingKey.source: chart requires a cluster to look for the key in; rendered without one (helm template, Argo CD) each rendering would make another key: set engine or existing, or render with --dry-run=server" }}{{ end -}}
{{- $key := lookup "v1" "Secret" .Release.Namespace "janus-sealing-key" -}}
{{- if and $key (ne (dig "metadata" "labels" "app.kubernetes.io/managed-by" "" $key) .Release.Service) }}{{ fail "sealingKey.source: the Secret janus-sealing-key exists and was not made by the chart: set existing, which keeps it" }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "janus.CustomResourceDefinition" -}}
{{- $_ := set .object.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") (default dict .object.metadata.annotations)) -}}
{{- end -}}

{{- /* With a namespace goes all that others put into it: pull secrets of packages, stages and their snapshots. */ -}}
{{- define "janus.Namespace" -}}
{{- include "janus.CustomResourceDefinition" . -}}
{{- end -}}

{{- define "janus.served" -}}
{{- $_ := set .object.metadata "namespace" .served.name -}}
{{- if eq .object.kind "Role" }}{{ $_ := set (first .object.rules) "resourceNames" .served.serviceAccounts }}{{ end -}}
{{- end -}}

{{- define "janus.ServiceAccount" -}}
{{- if eq .object.metadata.name "janus" }}{{ with .root.Values.serviceAccount.annotations }}{{ $_ := set $.object.metadata "annotations" . }}{{ end }}{{ end -}}
{{- end -}}

{{- /* The right to create Secrets is granted only where the engine makes its key. */ -}}
{{- define "janus.Role" -}}
{{- if ne .root.Values.sealingKey.source "engine" -}}
{{- $rules := list -}}
{{- range .object.rules }}{{ if not (and (has "secrets" .resources) (has "create" .verbs)) }}{{ $rules = append $rules . }}{{ end }}{{ end -}}
{{- $_ := set .object "rules" $rules -}}
{{- end -}}
{{- end -}}

{{- define "janus.Service" -}}
{{- $_ := set .object.spec "selector" (fromYaml (include "janus.selector" .root)) -}}
{{- if .root.Values.tls.secretName }}
{{- $port := first .object.spec.ports -}}
{{- $_ := set $port "port" 443 -}}
{{- $_ := set $port "appProtocol" "https" -}}
{{- end -}}
{{- end -}}

{{- define "janus.FlowSchema" -}}
{{- $metacontroller := last (first .object.spec.rules).subjects -}}
{{- $_ := set $metacontroller.serviceAccount "namespace" .root.Values.metacontroller.namespace -}}
{{- end -}}

{{- define "janus.PodDisruptionBudget" -}}
{{- $_ := set .object.spec.selector "matchLabels" (fromYaml (include "janus.selector" .root)) -}}
{{- end -}}

{{- define "janus.NetworkPolicy" -}}
{{- $_ := set .object.spec.podSelector "matchLabels" (fromYaml (include "janus.selector" .root)) -}}
{{- $from := list -}}
{{- range list .root.Values.metacontroller.namespace .root.Values.networkPolicy.prometheusNamespace }}
{{- $from = append $from (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .))) -}}
{{- end -}}
{{- $_ := set (first .object.spec.ingress) "from" $from -}}
{{- $ports := list -}}
{{- range .root.Values.networkPolicy.apiServerPorts }}{{ $ports = append $ports (dict "port" (int .)) }}{{ end -}}
{{- if .root.Values.packages.enabled }}
{{- /* Registries, and the names of them. */ -}}
{{- $ports = concat $ports (list (dict "port" (int 443)) (dict "port" (int 53) "protocol" "UDP") (dict "port" (int 53) "protocol" "TCP")) -}}
{{- with .root.Values.packages.proxy }}
{{- $port := regexFind ":[0-9]+/?$" . | trimAll ":/" | default (hasPrefix "https:" . | ternary "443" "80") -}}
{{- $ports = append $ports (dict "port" (int $port)) -}}
{{- end -}}
{{- $ports = uniq $ports -}}
{{- end -}}
{{- $_ := set (first .object.spec.egress) "ports" $ports -}}
{{- end -}}

{{- define "janus.CompositeController" -}}
{{- $tls := .root.Values.tls -}}
{{- $namespace := .root.Release.Namespace -}}
{{- if $tls.secretName }}
{{- $endpoint := first .object.spec.endpointConfigs -}}
{{- $_ := set $endpoint "caBundle" (dict "secretRef" (dict "name" $tls.secretName "namespace" $namespace "key" "ca.crt")) -}}
{{- with $tls.clientSecretName }}{{ $_ := set $endpoint "clientTLS" (dict "secretRef" (dict "name" . "namespace" $namespace)) }}{{ end -}}
{{- range $name, $hook := .object.spec.hooks }}{{ $_ := set $hook.webhook "url" ($hook.webhook.url | replace "http://" "https://") }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* Two controllers must not write the status of one Package. */ -}}
{{- define "janus.DecoratorController" -}}
{{- include "janus.CompositeController" . -}}
{{- $own := .root.Values.packages.own -}}
{{- $others := dict "matchExpressions" (list (dict "key" "pkg.crossplane.io/own-transactions" "operator" "NotIn" "values" (list "true"))) -}}
{{- range .object.spec.resources }}
{{- if eq $own "all" }}{{ $_ := unset . "annotationSelector" }}{{ end -}}
{{- if and (eq $own "annotated") (eq $.object.metadata.name "janus-packages-status") }}{{ $_ := set . "annotationSelector" $others }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* The first condition names the annotation. */ -}}
{{- define "janus.MutatingAdmissionPolicy" -}}
{{- if eq .root.Values.packages.own "all" }}{{ $_ := set .object.spec "matchConditions" (rest .object.spec.matchConditions) }}{{ end -}}
{{- end -}}

{{- define "janus.PrometheusRule" -}}
{{- $values := .root.Values.monitoring -}}
{{- with $values.labels }}{{ $_ := set $.object.metadata "labels" (merge (dict) . $.object.metadata.labels) }}{{ end -}}
{{- range .object.spec.groups }}{{ range .rules }}{{ with .annotations }}
{{- $_ := set . "runbook_url" (printf "%s#%s" $values.runbooks (last (splitList "#" .runbook_url))) -}}
{{- end }}{{ end }}{{ end -}}
{{- end -}}

{{- define "janus.ServiceMonitor" -}}
{{- with .root.Values.monitoring.labels }}{{ $_ := set $.object.metadata "labels" (merge (dict) . $.object.metadata.labels) }}{{ end -}}
{{- $_ := set .object.spec.selector "matchLabels" (fromYaml (include "janus.selector" .root)) -}}
{{- if .root.Values.tls.secretName }}
{{- $endpoint := first .object.spec.endpoints -}}
{{- $_ := set $endpoint "scheme" "https" -}}
{{- $_ := set $endpoint "tlsConfig" (dict "serverName" (printf "janus.%s.svc" .root.Release.Namespace) "ca" (dict "secret" (dict "name" .root.Values.tls.secretName "key" "ca.crt"))) -}}
{{- end -}}
{{- end -}}

{{- define "janus.theirs" -}}
{{- $values := .root.Values.metacontroller -}}
{{- $namespace := $values.namespace -}}
{{- if eq .object.kind "Namespace" }}{{ $_ := set .object.metadata "name" $namespace }}{{ end -}}
{{- if .object.metadata.namespace }}{{ $_ := set .object.metadata "namespace" $namespace }}{{ end -}}
{{- range .object.subjects }}{{ $_ := set . "namespace" $namespace }}{{ end -}}
{{- if eq .object.kind "StatefulSet" }}
{{- $_ := set .object.spec "replicas" $values.replicas -}}
{{- $pod := .object.spec.template.spec -}}
{{- with $values.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- include "janus.placement" (dict "pod" $pod "values" $values) -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" $values.image -}}
{{- /* As Pod Security `restricted` wants it, which namespaces may enforce. */ -}}
{{- $_ := set $pod "securityContext" (dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault")) -}}
{{- $_ := set $container "securityContext" (dict "allowPrivilegeEscalation" false "capabilities" (dict "drop" (list "ALL"))) -}}
{{- $args := concat $container.args $values.flags -}}
{{- if gt (int $values.replicas) 1 }}{{ $args = concat $args (list "--leader-election=true" (printf "--leader-election-namespace=%s" $namespace)) }}{{ end -}}
{{- $_ := set $container "args" $args -}}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- end -}}
{{- end -}}
