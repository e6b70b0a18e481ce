#!/usr/bin/env bash
# Runs Kubernetes' tests of kubectl (test/cmd of the copy that KUBERNETES names) against the program that APISERVER names, on the etcd at ETCD_URL.
# TESTS names some of them, without run_ and _tests; empty: all. kubectl, kubectl-convert and kube-controller-manager of the same release are on PATH.
set -o errexit -o nounset -o pipefail
cd "$KUBERNETES"
mkdir -p _output/bin
for program in kubectl kubectl-convert kube-controller-manager; do ln -sf "$(command -v "$program")" "_output/bin/$program"; done
# The copy comes from a module, which keeps no file modes.
chmod -R a+x test/fixtures/pkg/kubectl/plugins

export ALLOW_SKEW=1 SECURE_API_PORT=${API_PORT}
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh
make() { :; }
kube::etcd::start() { :; }
kube::etcd::cleanup() { :; }
setup

key=$(mktemp)
openssl genrsa -out "$key" 2048 2> /dev/null
without=ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,StorageObjectInUseProtection
$APISERVER --bind-address=127.0.0.1 --secure-port="$API_PORT" --etcd-servers="$ETCD_URL" --authorization-mode=RBAC,AlwaysAllow \
  --enable-admission-plugins=LimitRanger,ResourceQuota --runtime-config=api/v1 --service-cluster-ip-range=10.0.0.0/24 \
  --disable-admission-plugins="$without" \
  --service-account-key-file="$key" --service-account-signing-key-file="$key" --service-account-issuer=https://kubernetes.default.svc \
  --client-ca-file=hack/testdata/ca/ca.crt --token-auth-file=hack/testdata/auth-tokens.csv --cert-dir="$(mktemp -d)" > "$LOGS/apiserver.log" 2>&1 &
export APISERVER_PID=$!
kube::util::wait_for_url_with_bearer_token "https://127.0.0.1:$API_PORT/healthz" admin-token apiserver

config=$(mktemp)
kubectl config view --minify --raw > "$config"
kube-controller-manager --kubeconfig="$config" --secure-port=0 --cluster-signing-cert-file=hack/testdata/ca/ca.crt \
  --cluster-signing-key-file=hack/testdata/ca/ca.key > "$LOGS/kube-controller-manager.log" 2>&1 &
export CTLRMGR_PID=$!

# Without an annotation the node would have no field that its creator owns.
node='{"kind":"Node","apiVersion":"v1","metadata":{"name":"127.0.0.1","annotations":{"made-by":"tests"}},"status":{"capacity":{"memory":"1Gi"}}}'
kubectl create -f - <<< "$node"
export SUPPORTED_RESOURCES=('*') WHAT=$TESTS
runTests
echo 'All tests have run'
