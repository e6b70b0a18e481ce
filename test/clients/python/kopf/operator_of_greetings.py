"""An operator by kopf: each Greeting has a ConfigMap of its own and says so in its status."""
import kopf
import kubernetes


@kopf.on.create("example.com", "v1", "greetings")
@kopf.on.update("example.com", "v1", "greetings")
def greet(spec, name, namespace, patch, **_):
    body = {"metadata": {"name": name}, "data": {"text": f"Hello, {spec['name']}!"}}
    kopf.adopt(body)
    core = kubernetes.client.CoreV1Api()
    try:
        core.create_namespaced_config_map(namespace, body)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        core.patch_namespaced_config_map(name, namespace, body)
    patch.status["text"] = body["data"]["text"]


@kopf.on.delete("example.com", "v1", "greetings")
def part(name, namespace, **_):
    body = {"metadata": {"name": f"bye-{name}"}}
    kubernetes.client.CoreV1Api().create_namespaced_config_map(namespace, body)


@kopf.on.startup()
def configure(settings, **_):
    kubernetes.config.load_kube_config()
    settings.posting.enabled = True
