// Options, flags and the texts around them.
import { parseDuration } from '../../base/index.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { firstAddress, formatAddress, packAddress, parseRange } from '../tls/addresses.ts';
import { formatHelp, parseCommandLine } from './flags.ts';
import { resolveOptions, selectsController } from './options.ts';

const parse = (...args: string[]) => parseCommandLine(args);

describe('parseCommandLine', () => {
  it('serves with kube-apiserver defaults when nothing is said', () => {
    const command = parse();
    assert.equal(command.type, 'serve');
    if (command.type !== 'serve') return;
    assert.equal(command.options.securePort, 6443);
    assert.equal(command.options.requestTimeoutMs, 60_000);
    assert.equal(command.options.dataDir, './.pintle');
  });

  it('reads values after a space or an equals sign, and switches without one', () => {
    const command = parse(
      '--secure-port', '0', '--bind-address=::1', '--anonymous-auth=false', '--authorization-mode=Node,RBAC', '-v=3', '--compaction-interval=1m30s',
    );
    assert.ok(command.type === 'serve');
    const { securePort, bindAddress, anonymousAuth, authorizationMode, compactionIntervalMs } = command.options;
    assert.deepEqual({ securePort, bindAddress, anonymousAuth, authorizationMode, compactionIntervalMs }, {
      securePort: 0, bindAddress: '::1', anonymousAuth: false, authorizationMode: ['Node', 'RBAC'], compactionIntervalMs: 90_000 });
    assert.equal(command.verbosity, 3);
  });

  it('makes no data directory where etcd and a directory for certificates leave nothing for it', () => {
    const dataDirOf = (...args: string[]): unknown => {
      const command = parse(...args);
      assert.ok(command.type === 'serve');
      return command.options.dataDir;
    };
    assert.equal(dataDirOf('--etcd-servers=http://127.0.0.1:1', '--cert-dir=/c'), '');
    assert.equal(dataDirOf('--etcd-servers=http://127.0.0.1:1'), './.pintle');
    assert.equal(dataDirOf('--etcd-servers=http://127.0.0.1:1', '--cert-dir=/c', '--data-dir=/d'), '/d');
  });

  it('names the nearest flag when one is unknown', () => {
    assert.deepEqual(parse('--secure-prot=1'), { type: 'error', message: 'unknown flag: --secure-prot (the nearest is --secure-port)' });
  });

  it('warns about flags of kube-apiserver that mean nothing here, with their values', () => {
    const command = parse('--allow-privileged', '--service-account-signing-endpoint', '/x', '--secure-port', '1');
    assert.ok(command.type === 'serve');
    assert.equal(command.options.securePort, 1);
    const ignored = ['--allow-privileged', '--service-account-signing-endpoint'];
    assert.deepEqual(command.warnings, ignored.map((flag) => `${flag} means nothing here and is ignored`));
  });

  it('refuses bad values, stray arguments and missing values', () => {
    for (const args of [['--etcd-compaction-interval=x'], ['--secure-port=x'], ['--request-timeout=5'], ['--anonymous-auth=maybe'], ['stray'],
      ['--data-dir']]) {
      assert.equal(parse(...args).type, 'error', args.join(' '));
    }
  });

  it('knows help, version and the storage check', () => {
    assert.equal(parse('--help').type, 'help');
    assert.equal(parse('--version').type, 'version');
    assert.deepEqual(parse('storage', 'check', '--data-dir', 'd'), { type: 'check', dataDir: 'd' });
    assert.match(formatHelp(), /--secure-port integer\n {6}Port to serve HTTPS on.*\(default 6443\)/);
  });
});

describe('resolveOptions', () => {
  it('freezes what it checked', () => {
    assert.ok(Object.isFrozen(resolveOptions({})));
  });

  it('refuses what cannot work, naming the flag', () => {
    assert.throws(() => resolveOptions({ securePort: 70_000 }), /--secure-port/);
    assert.throws(() => resolveOptions({ bindAddress: 'localhost' }), /--bind-address/);
    assert.throws(() => resolveOptions({ serviceClusterIpRange: '10.0.0.0' }), /--service-cluster-ip-range/);
    assert.throws(() => resolveOptions({ controllers: ['nope'] }), /--controllers/);
    assert.throws(() => resolveOptions({ tlsCertFile: 'x' }), /--tls-private-key-file/);
    assert.throws(() => resolveOptions({ authorizationMode: ['Nope' as 'RBAC'] }), /--authorization-mode/);
    assert.throws(() => resolveOptions({ securePrt: 1 } as object), /unknown option securePrt/);
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
    assert.equal(parseRange('10.0.0.0/33'), undefined);
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
