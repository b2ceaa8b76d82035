import { join } from 'node:path'
import type { User } from '../../src/store/embedded/database-user.ts'
import { librariesOf, unpacked } from './debian-package.ts'
import type { NodeName } from './patroni.ts'
import { DEBIAN_15 } from './postgres.ts'

type Addresses = Record<NodeName, string>

/** Seconds, the shortest that Patroni allows for `ttl`. `loop_wait` + 2 × `retry_timeout` ≤ `ttl`. */
const TIMES = { ttl: 20, loop_wait: 2, retry_timeout: 5 }

/** Patroni’s configuration of a node. YAML contains JSON. */
export function nodeConfiguration(
  name: NodeName,
  options: { addresses: Addresses; folder: string },
): string {
  const { addresses, folder } = options
  const address = addresses[name]
  const account = (username: string) => ({ username, password: 'secret' })
  return JSON.stringify({
    scope: 'portreeve',
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { hosts: Object.values(addresses).map((host) => `${host}:2379`) },
    bootstrap: {
      dcs: {
        ...TIMES,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, wal_keep_size: '256MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { 'auth-local': 'trust' }],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: join(folder, 'data'),
      bin_dir: DEBIAN_15,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: account('postgres'),
        replication: account('replicator'),
        rewind: account('rewinder'),
      },
      parameters: { unix_socket_directories: folder, shared_buffers: '64MB' },
      pg_hba: [
        'local all all trust',
        'host all all 10.77.0.0/24 scram-sha-256',
        'host replication all 10.77.0.0/24 scram-sha-256',
      ],
    },
  })
}

/**
 * Runs etcd and Patroni. The shell stays the first process: one that changes its user would no
 * longer end with its parent.
 */
export function nodeScript(
  name: NodeName,
  options: { addresses: Addresses; folder: string; file: string; user: User },
): string {
  const { addresses, folder, file, user } = options
  const address = addresses[name]
  const patroni = unpacked('patroni')
  const members = Object.entries(addresses).map(([member, host]) => `${member}=http://${host}:2380`)
  const etcd = [
    join(unpacked('etcd'), 'usr/bin/etcd'),
    `--name=${name}`,
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-peer-urls=http://${address}:2380`,
    `--initial-advertise-peer-urls=http://${address}:2380`,
    `--listen-client-urls=http://${address}:2379`,
    `--advertise-client-urls=http://${address}:2379`,
    `--initial-cluster=${members.join(',')}`,
    '--heartbeat-interval=200',
    '--election-timeout=2000',
    '--log-level=error',
  ]
  const as = `setpriv --reuid=${user.uid} --regid=${user.gid} --clear-groups`
  const environment = [
    `PYTHONPATH=${patroni}/usr/lib/python3/dist-packages`,
    `LD_LIBRARY_PATH=${librariesOf(patroni)}`,
    `HOME=${folder}`,
  ]
  return `${as} ${etcd.join(' ')} >>${folder}/etcd.log 2>&1 &
${as} env ${environment.join(' ')} /usr/bin/python3 ${patroni}/usr/bin/patroni ${file} >>${folder}/patroni.log 2>&1 &
wait`
}

/**
 * HAProxy as Patroni’s documentation has it, in front of the leader, and a way to each server. It
 * listens on Unix sockets, which the test reaches from outside of the network.
 */
export function haproxyConfiguration(addresses: Addresses, folder: string): string {
  const nodes = Object.entries(addresses)
  const checked = nodes.map(([name, host]) => `  server ${name} ${host}:5432 check port 8008\n`)
  const single = nodes.map(
    ([name, host]) => `listen ${name}
  bind unix@${folder}/${name}/.s.PGSQL.5432 mode 777
  server ${name} ${host}:5432
listen ${name}-api
  bind unix@${folder}/${name}/api mode 777
  server ${name} ${host}:8008
`,
  )
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  timeout check 2s
listen leader
  bind unix@${folder}/leader/.s.PGSQL.5432 mode 777
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${checked.join('')}${single.join('')}`
}
