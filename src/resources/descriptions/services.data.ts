// Descriptions of Services and Ingresses. src/apimachinery/schema/descriptions.ts explains the notation.

const objectFields = (kind: string): string => `  metadata: Standard object's metadata: its name, labels, owners and history.
  spec: What is wanted of the ${kind}.
  status: What was last seen of the ${kind}. Written by the system, read-only for users.`;

const portStatusFields = `  error: Why the port does not work: a CamelCase word, with a domain in front where it is not one of Kubernetes.
  port: The port.
  protocol: TCP, UDP or SCTP.`;

export const serviceDescriptions = `
package io.k8s.api.core.v1
Service: Service is a lasting address and name for a changing group of pods.
${objectFields('Service')}
ServiceSpec: ServiceSpec is what is wanted of a Service.
  allocateLoadBalancerNodePorts: Whether a LoadBalancer Service gets node ports. Default true.
  clusterIP: Address of the Service in the cluster. Chosen by the server unless it is given; None for a headless Service without one. Not for ExternalName.
  clusterIPs: Addresses of the Service, one for each family; the first is clusterIP.
  externalIPs: Further addresses that nodes take traffic for. The cluster does not look after them.
  externalName: Name that DNS answers as an alias. Only for ExternalName.
  externalTrafficPolicy: Where traffic from outside goes: Cluster (the default) or Local, which keeps to the pods of the node and keeps the source address.
  healthCheckNodePort: Port of the nodes that says whether they have pods of the Service. Only for LoadBalancer with externalTrafficPolicy Local.
  internalTrafficPolicy: Where traffic from inside goes: Cluster (the default), or Local, which keeps to the pods of the node.
  ipFamilies: Families of the addresses: IPv4, IPv6 or both; the first cannot be changed.
  ipFamilyPolicy: SingleStack, PreferDualStack or RequireDualStack.
  loadBalancerClass: Implementation of the load balancer, with a domain in front. Default: that of the cluster. Cannot be changed.
  loadBalancerIP: Address that is wished for the load balancer. Deprecated; its meaning differs between implementations.
  loadBalancerSourceRanges: Ranges of client addresses that the load balancer lets pass, where it can.
  ports: Ports of the Service.
  publishNotReadyAddresses: Whether pods count that are not ready. For peers of a StatefulSet that must find each other before. Default false.
  selector: Labels of the pods. Without it the endpoints come from elsewhere. Not for ExternalName.
  sessionAffinity: ClientIP, where connections of a client go to the same pod, or None (the default).
  sessionAffinityConfig: Settings of ClientIP.
  trafficDistribution: Which endpoints are preferred: PreferSameZone, PreferSameNode or PreferClose, an older name of PreferSameZone.
  type: ClusterIP (the default), NodePort, LoadBalancer or ExternalName.
ServicePort: ServicePort is one port of a Service.
  appProtocol: Protocol of the application, a standard name or one with a domain in front, such as kubernetes.io/h2c.
  name: Name of the port. Needed where there are several.
  nodePort: Port of the nodes that leads here, for NodePort and LoadBalancer. Chosen by the server unless it is given.
  port: Port of the Service.
  protocol: TCP (the default), UDP or SCTP.
  targetPort: Number or name of the port of the pods. Default: port.
SessionAffinityConfig: SessionAffinityConfig holds the settings of session affinity.
  clientIP: Settings of ClientIP.
ClientIPConfig: ClientIPConfig holds the settings of affinity by client address.
  timeoutSeconds: Seconds without traffic after which a client is free, from 1 to 86400. Default 10800.
ServiceStatus: ServiceStatus is what was last seen of a Service.
  conditions: Aspects of the state.
  loadBalancer: State of the load balancer.
LoadBalancerStatus: LoadBalancerStatus is the state of a load balancer.
  ingress: Addresses at which it takes traffic.
LoadBalancerIngress: LoadBalancerIngress is an address of a load balancer.
  hostname: Name, for load balancers that have one.
  ip: Address, for load balancers that have one.
  ipMode: VIP, where traffic arrives with the address of the load balancer, or Proxy, where it arrives with that of a node or pod.
  ports: State of the ports.
PortStatus: PortStatus is the state of a port of a load balancer.
${portStatusFields}
package io.k8s.api.networking.v1
Ingress: Ingress leads HTTP requests from outside to Services, by host and path.
${objectFields('Ingress')}
IngressSpec: IngressSpec is what is wanted of an Ingress.
  defaultBackend: Where requests go that match no rule. Needed without rules.
  ingressClassName: IngressClass, whose controller looks after the Ingress. Default: the default class of the cluster, where there is one.
  rules: Rules by host. Requests that match none go to defaultBackend.
  tls: Certificates by host.
IngressBackend: IngressBackend is where requests go: a Service or another object.
  resource: Object of the namespace. Not together with service.
  service: Service of the namespace.
IngressServiceBackend: IngressServiceBackend is a port of a Service.
  name: Name of the Service.
  port: The port.
ServiceBackendPort: ServiceBackendPort is a port by its name or number, not both.
  name: Name of the port.
  number: Number of the port.
IngressTLS: IngressTLS is a certificate and the hosts that it is for.
  hosts: The hosts, which the certificate must name. Default: all hosts of the Ingress.
  secretName: Secret with certificate and key.
IngressRule: IngressRule holds the paths of one host.
  host: Name of the host; *.NAME for all names one level below. Default: all hosts.
  http: The paths.
HTTPIngressRuleValue: HTTPIngressRuleValue holds paths.
  paths: Paths and where they lead.
HTTPIngressPath: HTTPIngressPath is a path and where it leads.
  backend: Where requests go.
  path: The path; begins with '/'.
  pathType: Exact, Prefix (by parts between slashes) or ImplementationSpecific.
IngressStatus: IngressStatus is what was last seen of an Ingress.
  loadBalancer: State of the load balancer.
IngressLoadBalancerStatus: IngressLoadBalancerStatus is the state of a load balancer.
  ingress: Addresses at which it takes traffic.
IngressLoadBalancerIngress: IngressLoadBalancerIngress is an address of a load balancer.
  hostname: Name, for load balancers that have one.
  ip: Address, for load balancers that have one.
  ports: State of the ports.
IngressPortStatus: IngressPortStatus is the state of a port of a load balancer.
${portStatusFields}
`;
