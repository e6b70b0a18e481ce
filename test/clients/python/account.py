# A service account's view of a server: what its token opens and what it does not. Answers each line on stdin with one line of JSON.
import json
import sys

from kubernetes import client, config
from kubernetes.client.rest import ApiException


def attempt(call, **arguments):
    # The names or the name that a call answers, or the status of its refusal.
    try:
        found = call(**arguments)
    except ApiException as error:
        body = json.loads(error.body)
        return [body["code"], body["reason"], body["message"]]
    if hasattr(found, "items"):
        return sorted(one.metadata.name for one in found.items)
    return found.status if isinstance(found, client.V1Status) else found.metadata.name


def ask(reviews, verb, resource, namespace="default"):
    attributes = client.V1ResourceAttributes(verb=verb, resource=resource, namespace=namespace)
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    return reviews.create_self_subject_access_review(review).status.allowed


def main():
    api = config.new_client_from_config(sys.argv[1])
    core = client.CoreV1Api(api)
    roles = client.RbacAuthorizationV1Api(api)
    reviews = client.AuthorizationV1Api(api)
    me = client.AuthenticationV1Api(api)
    for line in sys.stdin:
        made = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="made"), data={"by": "robot"})
        wider = client.V1Role(
            metadata=client.V1ObjectMeta(name="wider"), rules=[client.V1PolicyRule(api_groups=["*"], resources=["*"], verbs=["*"])])
        user = me.create_self_subject_review(client.V1SelfSubjectReview()).status.user_info
        answer = {
            "user": user.username, "groups": user.groups,
            "list": attempt(core.list_namespaced_config_map, namespace="default", label_selector="kind=data"),
            "create": attempt(core.create_namespaced_config_map, namespace="default", body=made),
            "patch": attempt(core.patch_namespaced_config_map, namespace="default", name="made", body={"data": {"more": "1"}}),
            "delete": attempt(core.delete_namespaced_config_map, namespace="default", name="made"),
            "secret": attempt(core.read_namespaced_secret, namespace="default", name="known"),
            "other secret": attempt(core.read_namespaced_secret, namespace="default", name="unknown"),
            "elsewhere": attempt(core.list_namespaced_config_map, namespace="kube-system"),
            "everywhere": attempt(core.list_config_map_for_all_namespaces),
            "nodes": attempt(core.list_node),
            "escalate": attempt(roles.create_namespaced_role, namespace="default", body=wider),
            "may": [ask(reviews, "create", "configmaps"), ask(reviews, "get", "secrets"), ask(reviews, "create", "configmaps", "kube-system")],
        }
        print(json.dumps(answer), flush=True)


main()
