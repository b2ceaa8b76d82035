/** A server that may be the primary. A host that begins with `/` is the folder of a Unix socket. */
export type DatabaseServer = { host: string; port: number }

export type DatabaseUrl = {
  servers: DatabaseServer[]
  /** Whether a server that is read-only, such as a standby, must be skipped. */
  needsWritable: boolean
  /** The URL without its servers and without `target_session_attrs`. */
  withoutServers: string
}

const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/
const DEFAULT_PORT = 5432
const MAX_SERVERS = 16

/** `read-only`, `standby` and `prefer-standby` of libpq make no sense: the service writes. */
const TARGETS = ['read-write', 'primary', 'any']

/**
 * Parses a connection URL as libpq does, with one or several servers (PostgreSQL documentation,
 * “Connection URIs”): `postgres://user@one:5432,two:5432/db?target_session_attrs=read-write`, or
 * with `host=one,two&port=5432`.
 * @throws Error whose message completes “DATABASE_URL …” and never contains the password
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, scheme, user, authority = '', path = '', query] = PARTS.exec(text) ?? []
  if (scheme === undefined)
    throw new Error('must be a URL that starts with postgres:// or postgresql://')
  const parameters = new URLSearchParams(query)
  const servers = parameters.has('host')
    ? serversOfParameters(parameters)
    : serversOfAuthority(authority)
  const target = parameters.get('target_session_attrs')
  if (target !== null && !TARGETS.includes(target))
    throw new Error(`must have a target_session_attrs of ${TARGETS.join(', ')}`)
  for (const name of ['host', 'port', 'target_session_attrs']) parameters.delete(name)
  const rest = parameters.size > 0 ? `?${parameters.toString()}` : ''
  const withoutServers = `${scheme}${user === undefined ? '' : `${user}@`}localhost${path}${rest}`
  if (!URL.canParse(withoutServers))
    throw new Error('must be a valid URL: percent-encode special characters of the password')
  return {
    servers,
    // The default of libpq is `any`, which for several servers would often be a standby.
    needsWritable: target === null ? servers.length > 1 : target !== 'any',
    withoutServers,
  }
}

function serversOfAuthority(authority: string): DatabaseServer[] {
  const entries = authority.split(',')
  return limited(entries).map((entry) => {
    const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d*))?$/.exec(entry)
    if (!match) throw new Error(`has “${entry}”, which is not of the form host:port`)
    const [, address, name = '', port = ''] = match
    return serverOf(address ?? decodeURIComponent(name), port, entries.length)
  })
}

/** As in libpq, one port is that of all hosts. */
function serversOfParameters(parameters: URLSearchParams): DatabaseServer[] {
  const hosts = limited(parameters.get('host')?.split(',') ?? [])
  const ports = (parameters.get('port') ?? '').split(',')
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new Error(`has ${hosts.length} hosts and ${ports.length} ports`)
  return hosts.map((host, n) => serverOf(host, ports[n] ?? ports[0] ?? '', hosts.length))
}

function limited(entries: string[]): string[] {
  if (entries.length > MAX_SERVERS) throw new Error(`must name up to ${MAX_SERVERS} hosts`)
  return entries
}

function serverOf(host: string, portText: string, count: number): DatabaseServer {
  if (host === '' && count > 1) throw new Error('has an empty host in its list')
  const port = portText === '' ? DEFAULT_PORT : Number(portText)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`has a port of ${portText}, which must be from 1 to 65535`)
  return { host: host || 'localhost', port }
}
