"""The operator under kopf's own test runner, with `pintle run --crds … -- pytest`."""
import pathlib
import time

import pytest
from kopf.testing import KopfRunner
from kubernetes import client, config
from kubernetes.client.rest import ApiException

operator = pathlib.Path(__file__).with_name("operator_of_greetings.py")
kind = dict(group="example.com", version="v1", namespace="default", plural="greetings")


@pytest.fixture(scope="module")
def objects():
    config.load_kube_config()
    return client.CustomObjectsApi()


def until(read, holds):
    for _ in range(200):
        try:
            value = read()
            if holds(value):
                return value
        except ApiException as error:
            if error.status != 404:
                raise
        time.sleep(0.05)
    raise AssertionError("not in time")


def test_greetings(objects):
    core = client.CoreV1Api()
    with KopfRunner(["run", "--namespace", "default", str(operator)], timeout=60) as runner:
        objects.create_namespaced_custom_object(**kind, body={
            "apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "world"}, "spec": {"name": "World"}})
        until(lambda: core.read_namespaced_config_map("world", "default"), lambda found: found.data == {"text": "Hello, World!"})
        until(lambda: objects.get_namespaced_custom_object(**kind, name="world"), lambda found: found.get("status", {}).get("text") == "Hello, World!")
        objects.patch_namespaced_custom_object(**kind, name="world", body={"spec": {"name": "Moon"}})
        until(lambda: core.read_namespaced_config_map("world", "default"), lambda found: found.data == {"text": "Hello, Moon!"})
        objects.delete_namespaced_custom_object(**kind, name="world")
        until(lambda: core.read_namespaced_config_map("bye-world", "default"), bool)

        def is_gone():
            try:
                objects.get_namespaced_custom_object(**kind, name="world")
            except ApiException as error:
                return error.status == 404

        until(is_gone, bool)
    assert runner.exit_code == 0, runner.output
    assert runner.exception is None
