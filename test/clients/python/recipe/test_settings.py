"""A suite of the Python client that runs with `pintle run -- pytest`: KUBECONFIG leads to a server in memory."""
import json

import pytest
from kubernetes import client, config
from kubernetes.client.rest import ApiException


@pytest.fixture(scope="session")
def core():
    config.load_kube_config()
    return client.CoreV1Api()


@pytest.fixture
def fault(core):
    """Adds faults for one test."""
    pool = core.api_client.rest_client.pool_manager
    url = core.api_client.configuration.host + "/debug/pintle/faults"
    yield lambda **fields: pool.request("POST", url, body=json.dumps(fields))
    pool.request("DELETE", url)


def config_map(name):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"color": "blue"})


def test_objects_are_garbage_collected(core):
    owner = core.create_namespaced_config_map("team", config_map("owner"))
    owned = config_map("owned")
    owned.metadata.owner_references = [client.V1OwnerReference(api_version="v1", kind="ConfigMap", name="owner", uid=owner.metadata.uid)]
    core.create_namespaced_config_map("team", owned)
    core.delete_namespaced_config_map("owner", "team", propagation_policy="Foreground")
    for _ in range(200):
        names = [item.metadata.name for item in core.list_namespaced_config_map("team").items]
        if "owned" not in names:
            return
    raise AssertionError("the owned object is still there")


def test_a_conflict_on_demand(core, fault):
    fault(verb="create", resource="configmaps", status=409, times=1)
    with pytest.raises(ApiException) as refusal:
        core.create_namespaced_config_map("team", config_map("refused"))
    assert refusal.value.status == 409
    core.create_namespaced_config_map("team", config_map("refused"))
