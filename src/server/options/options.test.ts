// Options, flags and the texts around them.
import { parseDuration } from '../../base/index.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { firstAddress, formatAddress, packAddress } from '../tls/addresses.ts';
import { commands, parseCommandLine } from '../cli/command-line.ts';
import { formatHelp } from '../cli/help.ts';
import { type ServerOptions, resolveOptions, selectsController } from './options.ts';

const parse = (...args: string[]) => parseCommandLine(args);

/** The settings of a command line that is expected to be good. */
function read(...args: string[]): { readonly command: string; readonly settings: Record<string, unknown>; readonly warnings: readonly string[] } {
  const invocation = parse(...args);
  assert.equal(invocation.type, 'run', JSON.stringify(invocation));
  if (invocation.type !== 'run') throw new Error('unreachable');
  return { command: invocation.command.name, settings: invocation.flags.settings, warnings: invocation.flags.warnings };
}


describe('parseCommandLine', () => {
  it('serves with kube-apiserver defaults when nothing is given', () => {
    const { command, settings } = read();
    assert.equal(command, 'serve');
    assert.equal(settings['securePort'], 6443);
    assert.equal(settings['requestTimeoutMs'], 60_000);
    assert.equal(settings['dataDir'], './.pintle');
  });

  it('reads values after a space or an equals sign, and switches without one', () => {
    const { settings } = read('serve',
      '--secure-port', '0', '--bind-address=::1', '--anonymous-auth=false', '--authorization-mode=Node,RBAC', '-v=3', '--compaction-interval=1m30s');
    const { securePort, bindAddress, anonymousAuth, authorizationMode, compactionIntervalMs, verbosity } = settings;
    assert.deepEqual({ securePort, bindAddress, anonymousAuth, authorizationMode, compactionIntervalMs, verbosity }, {
      securePort: 0, bindAddress: '::1', anonymousAuth: false, authorizationMode: ['Node', 'RBAC'], compactionIntervalMs: 90_000, verbosity: 3 });
  });

  it('passes over empty arguments', () => assert.equal(read('serve', '', '--secure-port', '7', '').settings['securePort'], 7));

  it('adds up lists that are given several times, the first in place of the default', () => {
    const { controllers } = read('--controllers=bootstrap', '--controllers', 'namespace,apiservices').settings;
    assert.deepEqual(controllers, ['bootstrap', 'namespace', 'apiservices']);
  });

  it('names the nearest flag when one is unknown', () => {
    assert.deepEqual(parse('--secure-prot=1'), { type: 'error', message: 'unknown flag: --secure-prot (the nearest is --secure-port)' });
  });

  it('warns about flags of kube-apiserver that have no meaning here, with their values', () => {
    const { settings, warnings } = read('--alsologtostderr', '--apiserver-count', '3', '--peer-ca-file=x', '--secure-port', '1');
    assert.equal(settings['securePort'], 1);
    assert.deepEqual(warnings, ['alsologtostderr', 'apiserver-count', 'peer-ca-file'].map((flag) => `--${flag} means nothing here and is ignored`));
  });

  it('refuses values that flags without a meaning here do not have', () => {
    const faults = {
      'apiserver-count=x': 'strconv.ParseInt: parsing "x": invalid syntax', 'kubelet-timeout=x': 'time: invalid duration "x"',
      'enable-garbage-collector=x': 'strconv.ParseBool: parsing "x": invalid syntax', 'vmodule=x': '"x" does not have the pattern=N format',
    };
    for (const [argument, problem] of Object.entries(faults)) {
      const [flag] = argument.split('=');
      assert.deepEqual(parse(`--${argument}`), { type: 'error', message: `invalid argument "x" for "--${flag}" flag: ${problem}` });
    }
  });

  it('refuses flags of kube-apiserver that would weaken the server if they were ignored, unless they ask for what it does anyway', () => {
    assert.deepEqual(parse('--admission-control=/x'), { type: 'error', message: '--admission-control=/x is not supported' });
    assert.deepEqual(parse('--emulated-version=1.33'), { type: 'error', message: '--emulated-version=1.33 is not supported; only 1.36 or kube=1.36 is' });
    assert.deepEqual(read('--emulated-version=kube=1.36', '--enable-garbage-collector=T', '--kubernetes-service-node-port=0x0').warnings, []);
    assert.deepEqual(read('--service-account-lookup').warnings, []);
  });

  it('reads numbers and lists as Go does, with its words for what is wrong', () => {
    assert.equal(read('--max-requests-inflight=0x10').settings['maxRequestsInflight'], 16);
    assert.deepEqual(read('--authorization-mode=RBAC, Node,').settings['authorizationMode'], ['RBAC', ' Node', '']);
    assert.deepEqual(read('--feature-gates= WatchList=true , ').settings['featureGates'], ['WatchList=true']);
    assert.deepEqual(read('--oidc-required-claim=a=b,c', '--service-account-key-file=a,b').settings['oidcRequiredClaims'], ['a=b,c']);
    assert.deepEqual(parse('--max-requests-inflight=08'), {
      type: 'error', message: 'invalid argument "08" for "--max-requests-inflight" flag: strconv.ParseInt: parsing "08": invalid syntax',
    });
  });

  it('reads small numbers with exponents, and takes an issuer as it is', () => {
    assert.equal(read('--goaway-chance=1e-3').settings['goawayChance'], 0.001);
    assert.deepEqual(read('--service-account-issuer=a,b', '--service-account-issuer=').settings['serviceAccountIssuers'], ['a,b', '']);
    assert.throws(() => resolveOptions({ serviceAccountIssuers: ['a', ''] }), /--service-account-issuer should not be an empty string/);
  });

  it('refuses bad values, stray arguments and missing values', () => {
    for (const args of [['--etcd-compaction-interval=x'], ['--secure-port=x'], ['--request-timeout=5'], ['--anonymous-auth=maybe'], ['stray'],
      ['--data-dir']]) {
      assert.equal(parse(...args).type, 'error', args.join(' '));
    }
  });

  it('finds commands, their help and their flags', () => {
    assert.equal(read('--version').command, 'version');
    assert.equal(read('storage', 'check', '--data-dir', 'd').settings['dataDir'], 'd');
    for (const args of [['storage'], ['storage', '--help'], ['help', 'storage']]) {
      const help = parse(...args);
      assert.ok(help.type === 'help' && /pintle storage snapshot/.test(help.text) && !/kubeconfig/.test(help.text), args.join(' '));
    }
    assert.deepEqual(parse('storage', 'snapshoot'), { type: 'error', message: 'unknown command: storage snapshoot (the nearest is storage snapshot)' });
    assert.deepEqual(parse('serv'), { type: 'error', message: 'unknown command: serv (the nearest is serve)' });
    assert.equal(read('completion', 'fish').settings['shell'], 'fish');
    assert.equal(read('users', 'revoke', 'jane', '--data-dir', 'd').settings['user'], 'jane');
    for (const { name, schema } of commands) {
      const help = parse(...name.split(' '), '--help');
      assert.ok(help.type === 'help' && Object.values(schema).every(({ flag }) => flag === undefined || help.text.includes(`--${flag}`)), name);
    }
    assert.match(formatHelp(commands), /--secure-port integer\n {6}Port to serve HTTPS on.*\(default 6443\)/);
  });
});

describe('resolveOptions', () => {
  it('freezes what it checked', () => {
    assert.ok(Object.isFrozen(resolveOptions({})));
  });

  it('refuses what cannot work, naming the flag', () => {
    assert.throws(() => resolveOptions({ securePort: 70_000 }), /--secure-port/);
    assert.throws(() => resolveOptions({ bindAddress: 'localhost' }), /--bind-address/);
    for (const serviceClusterIpRange of ['10.0.0.0', '10.0.0.0/24,10.1.0.0/24', '10.0.0.0/24,fd00::/112,10.1.0.0/24', '10.0.0.0/24,']) {
      assert.throws(() => resolveOptions({ serviceClusterIpRange }), /service-cluster-ip-range/);
    }
    resolveOptions({ serviceClusterIpRange: '10.0.0.0/24,fd00::/112' });
    assert.throws(() => resolveOptions({ serviceNodePortRange: '5-4' }), /--service-node-port-range/);
    assert.throws(() => resolveOptions({ controllers: ['nope'] }), /--controllers/);
    const plugins = ['PodSecurity', 'AlwaysPullImages'];
    assert.throws(() => resolveOptions({ enableAdmissionPlugins: plugins, disableAdmissionPlugins: plugins }),
      /\[AlwaysPullImages PodSecurity\] in enable-admission-plugins and disable-admission-plugins overlapped/);
    assert.throws(() => resolveOptions({ tlsMinVersion: 'VersionTLS11' }), /--tls-min-version must be VersionTLS12 or VersionTLS13/);
    assert.throws(() => resolveOptions({ tlsCipherSuites: ['TLS_RSA_WITH_RC4_128_SHA'] }), /--tls-cipher-suites "TLS_RSA_WITH_RC4_128_SHA" is not one of/);
    assert.throws(() => resolveOptions({ eventTtlMs: 500 }), /--event-ttl must be at least a second/);
    assert.throws(() => resolveOptions({ goawayChance: 0.03 }), /--goaway-chance can not be less than 0 or greater than 0.02/);
    assert.throws(() => resolveOptions({ strictTransportSecurityDirectives: ['max-age'] }), /-directives invalid, allowed values: max-age=/);
    for (const url of ['http://a', 'https://', 'https://a#b', 'https://a?b', 'https://u@a']) {
      assert.throws(() => resolveOptions({ oidcIssuerUrl: url, oidcClientId: 'c' }), /--oidc-issuer-url must /, url);
    }
    const incomplete = [{ oidcIssuerUrl: 'https://a' }, { oidcClientId: 'c' }, { oidcGroupsPrefix: 'p' }, { oidcUsernameClaim: 'n' },
      { oidcRequiredClaims: ['a=b'] }];
    for (const oidc of incomplete) {
      assert.throws(() => resolveOptions(oidc), /oidc-issuer-url and oidc-client-id must be specified together when any oidc-\* flags are set/);
    }
    assert.throws(() => resolveOptions({ serviceAccountJwksUri: 'http://a' }), /--service-account-jwks-uri requires https scheme, parsed as: http:\/\/a/);
    assert.throws(() => resolveOptions({ authorizationWebhookConfigFile: 'a' }), /cannot specify --authorization-webhook-config-file without mode Webhook/);
    assert.throws(() => resolveOptions({ featureGates: ['AllAlpha=true=false'] }), /invalid value of AllAlpha=true=false, err: strconv.ParseBool/);
    assert.throws(() => resolveOptions({ tlsCertFile: 'x' }), /--tls-private-key-file/);
    assert.throws(() => resolveOptions({ authorizationMode: ['Nope' as 'RBAC'] }), /authorization-mode "Nope"/);
    assert.throws(() => resolveOptions({ securePrt: 1 } as object), /unknown option securePrt/);
  });

  it('refuses what kube-apiserver refuses at its start, in its words, and what would leave the server useless or open', () => {
    const refused: readonly (readonly [Partial<ServerOptions>, string])[] = [
      [
        { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 },
        'invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive',
      ],
      [{ maxRequestsInflight: -1 }, '--max-requests-inflight can not be negative value'],
      [{ authorizationMode: ['RBAC', '' as 'RBAC'] }, 'authorization-mode "" is not a valid mode'],
      [{ authorizationMode: ['RBAC', 'RBAC'] }, 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'],
      [{ strictTransportSecurityDirectives: ['preload', ' '] }, 'empty value in strict-transport-security-directives'],
      [{ advertiseAddress: 'fd00::1' }, 'service IP family "10.0.0.0/24" must match public address family "fd00::1"'],
      [{ bindAddress: '10.1.2.3', serviceClusterIpRange: 'fd00::/112' }, 'service IP family "fd00::/112" must match public address family "10.1.2.3"'],
      [{ runtimeConfig: ['api/all=false', 'api/v1'] }, '--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true'],
      [{ runtimeConfig: ['api/all=true', 'api/ga=false'] }, '--runtime-config=api/ga=false conflicts with --enable-priority-and-fairness=true'],
      [{ serviceClusterIpRange: 'x' }, 'service-cluster-ip-range[0] is not a valid cidr'],
      [{ serviceClusterIpRange: '10.0.0.0/16,' }, 'service-cluster-ip-range[1] is not an ip net'],
      [
        { serviceClusterIpRange: '10.0.0.0/16,10.1.0.0/16' },
        '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family',
      ],
      [{ requestTimeoutMs: 0 }, '--request-timeout must be greater than 0'],
      [{ authorizationMode: [] }, '--authorization-mode must name at least one mode'],
      [{ bindAddress: '' }, 'invalid argument "" for "--bind-address" flag: failed to parse IP: ""'],
      [
        { requestheaderUidHeaders: ['x-uid'] },
        '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work',
      ],
      [{ enableAdmissionPlugins: [''] }, 'enable-admission-plugins plugin "" is unknown'],
      [{ requestheaderGroupHeaders: ['x', ' '] }, 'empty value in "requestheader-group-headers"'],
      [
        { disabledMetrics: ['a', ''] },
        '--disabled-metrics metrics.disabledMetrics: Invalid value: ["a",""]: must be fully qualified metric names matching '
          + '"^[a-zA-Z_:][a-zA-Z0-9_:]*$", got ""',
      ],
      [{ bindAddress: 'x' }, 'invalid argument "x" for "--bind-address" flag: failed to parse IP: "x"'],
      [{ serviceNodePortRange: '5-4' }, 'invalid argument "5-4" for "--service-node-port-range" flag: end port cannot be less than start port: 5-4'],
    ];
    for (const [options, message] of refused) assert.throws(() => resolveOptions(options), { message });
    const taken: readonly Partial<ServerOptions>[] = [
      { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0, enablePriorityAndFairness: false },
      { advertiseAddress: 'fd00::1', endpointReconcilerType: 'none' },
      { bindAddress: '::1' }, { bindAddress: '::' }, { advertiseAddress: '::', bindAddress: '10.1.2.3' }, { serviceNodePortRange: '0-0' },
      { runtimeConfig: ['flowcontrol.apiserver.k8s.io/v1=true', 'api/ga=false'] }, { runtimeConfig: ['api/ga=false'], enablePriorityAndFairness: false },
      { runtimeConfig: ['flowcontrol.apiserver.k8s.io/v1=0'] }, { strictTransportSecurityDirectives: ['max-age=x'] },
    ];
    for (const options of taken) resolveOptions(options);
  });

  it('selects controllers as kube-controller-manager does', () => {
    assert.equal(selectsController(['*'], 'namespace'), true);
    assert.equal(selectsController(['*', '-namespace'], 'namespace'), false);
    assert.equal(selectsController(['bootstrap'], 'namespace'), false);
  });
});

describe('addresses', () => {
  it('finds the first address of a range', () => {
    assert.equal(firstAddress('10.0.0.0/24'), '10.0.0.1');
    assert.equal(firstAddress('10.96.7.9/12'), '10.96.0.1');
    assert.equal(firstAddress('fd00:10:96::/112'), 'fd00:10:96::1');
    assert.throws(() => firstAddress('10.0.0.0/33'), /not an address range/);
  });

  it('packs and formats every address back to itself', () => {
    fc.assert(fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      assert.deepEqual(packAddress(formatAddress(bytes)), bytes);
    }));
    assert.deepEqual([...packAddress('::ffff:1.2.3.4')].slice(10), [255, 255, 1, 2, 3, 4]);
  });
});

describe('parseDuration', () => {
  it('reads what Go reads, and says what Go says about the rest', () => {
    const good = [['0', 0], ['1.5s', 1500], ['2h45m', 9_900_000], ['-1s', -1000], ['300ms', 300], ['.5m', 30_000]] as const;
    for (const [text, ms] of good) assert.equal(parseDuration(text), ms);
    assert.equal(parseDuration('10'), 'time: missing unit in duration "10"');
    assert.equal(parseDuration('1y'), 'time: unknown unit "y" in duration "1y"');
    for (const text of ['', 's', '1s2', '--1s', '.s']) assert.equal(typeof parseDuration(text), 'string', text);
  });
});
