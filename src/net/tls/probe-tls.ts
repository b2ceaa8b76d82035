import { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { connect, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { Fault, messageOf } from '../../errors.ts'
import { onAbort } from '../abort.ts'
import { chainOf, type CertificateFacts } from './certificate.ts'
import { upstreamRejected } from './conversation.ts'
import { canonical } from '../address.ts'
import { offline } from '../offline.ts'
import { openSocket, type Target } from '../guard.ts'
import { matchName } from './server-identity.ts'
import { trustedPath } from './trusted-path.ts'
import { startTls, STARTTLS_PORTS, type StartTls } from './starttls.ts'

export type TlsFacts = {
  /** The address that was connected to. */
  address: string
  port: number
  protocol: string
  cipher: { name: string; version: string; standardName: string }
  /**
   * Whether the chain leads to a trusted root and every certificate in it is valid now; names
   * apart.
   */
  isTrusted: boolean
  /** OpenSSL's code of something that is wrong with the chain (`CERT_HAS_EXPIRED`). */
  trustError: string | null
  /** The same in OpenSSL’s words (`certificate has expired`). */
  trustErrorText: string | null
  /** Whether the certificate is for the host that was asked for. */
  hostnameMatches: boolean
  /** The host is only in the common name, which RFC 9525, 2, MTA-STS and we do not accept. */
  isCommonNameOnly: boolean
  /** The leaf first; never empty. */
  chain: [CertificateFacts, ...CertificateFacts[]]
  /**
   * The certificates on which trust depends. Other than `chain` when a root of ours replaces an
   * issuer that the server sent; the same when the chain is not trusted.
   */
  path: [CertificateFacts, ...CertificateFacts[]]
  /** The handshake succeeded only with the protocols and ciphers of long ago. */
  isOutdated: boolean
  handshakeMs: number
}

declare module '../offline.ts' {
  interface Recording {
    /** The handshake with a port; undefined where nothing is recorded. */
    tls(host: string, port: number): TlsFacts | undefined
  }
}

export type TlsProbe = {
  target: Target
  port: number
  starttls?: StartTls | undefined
  /** Called with the address once it has accepted the connection. */
  onConnected?: ((address: string) => void) | undefined
  /** Trusts no root. */
  withoutRoots?: boolean | undefined
  signal: AbortSignal
}

/** Settings that TLS 1.0 servers and 512-bit keys need, and that OpenSSL’s defaults reject. */
const OUTDATED = { minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const

type Attempt = { isOutdated: boolean; options: SecureContextOptions }

/** In the order in which they are tried; the last is for a server with hybrid groups only. */
const ATTEMPTS: Attempt[] = [
  { isOutdated: false, options: {} },
  { isOutdated: true, options: OUTDATED },
  { isOutdated: false, options: { ecdhCurve: 'auto' } },
]

/**
 * Performs one handshake with a server, whatever the quality of its certificate, and reports its
 * details. If it fails, it is repeated with obsolete protocols, because users check a server when
 * something is wrong, and with a longer ClientHello.
 * @throws Fault `upstream_rejected` (no TLS there, STARTTLS declined), `upstream_unreachable`,
 *   `upstream_timeout`
 */
export async function probeTls(probe: TlsProbe): Promise<TlsFacts> {
  const recorded = offline()?.tls(probe.target.host, probe.port)
  if (recorded) {
    probe.onConnected?.(recorded.address)
    return recorded
  }
  let first: HandshakeFailure | undefined
  for (const attempt of ATTEMPTS) {
    try {
      return await handshake(probe, attempt)
    } catch (error) {
      const isHandshake = error instanceof HandshakeFailure
      if (!first && !isHandshake) throw error
      if (!isHandshake) break
      first ??= error
      if (NOT_TLS.test(error.code)) break
    }
  }
  throw faultOf(first as HandshakeFailure, probe)
}

/** Both sides speak, but not TLS with each other. */
class HandshakeFailure extends Error {
  readonly code: string
  constructor(cause: NodeJS.ErrnoException & { reason?: string }) {
    super(cause.reason ?? messageOf(cause), { cause })
    this.code = cause.code ?? ''
  }
}

async function handshake(probe: TlsProbe, { isOutdated, options }: Attempt): Promise<TlsFacts> {
  const { target, port, starttls, signal } = probe
  const socket = await openSocket(target, port, signal)
  // Its errors reach us through the conversation or through TLS; without a listener they would end
  // the process.
  socket.on('error', () => {})
  probe.onConnected?.(canonical(socket.remoteAddress ?? ''))
  try {
    if (starttls) await startTls(starttls, socket, signal)
    const started = performance.now()
    const roots = probe.withoutRoots ? { ca: [] } : {}
    const secured = await secure(socket, target, { ...options, ...roots }, signal)
    return {
      ...factsOf(secured, target),
      port,
      isOutdated,
      handshakeMs: Math.round(performance.now() - started),
    }
  } finally {
    socket.destroy()
  }
}

async function secure(
  socket: Socket,
  target: Target,
  options: SecureContextOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const leave = onAbort([signal], () =>
    reject(
      new Fault(
        'upstream_timeout',
        `The TLS handshake with ${target.host} did not finish in time.`,
      ),
    ),
  )
  const secured = connect({
    socket,
    servername: target.servername,
    // The certificate is the subject of the check, so its problems belong in the result.
    rejectUnauthorized: false,
    // Keeps the host name out of `authorized`, which otherwise reports only one problem.
    checkServerIdentity: () => undefined,
    ...options,
  })
  secured.on('error', (error) => reject(new HandshakeFailure(error)))
  secured.once('secureConnect', () => resolve(secured))
  return promise.finally(leave)
}

function factsOf(
  secured: TLSSocket,
  { host }: Target,
): Omit<TlsFacts, 'port' | 'isOutdated' | 'handshakeMs'> {
  const leaf = secured.getPeerCertificate(true)
  const [first, ...others] = chainOf(leaf)
  if (!first) throw upstreamRejected(`${host} supports TLS but sent no certificate.`)
  const chain: TlsFacts['chain'] = [first, ...others]
  const nameMatch = matchName(new X509Certificate(first.der), host)
  return {
    address: secured.remoteAddress ?? '',
    protocol: secured.getProtocol() ?? 'unknown',
    cipher: secured.getCipher(),
    isTrusted: secured.authorized,
    ...trustErrorOf(secured),
    hostnameMatches: nameMatch !== 'none',
    isCommonNameOnly: nameMatch === 'common-name',
    chain,
    path: secured.authorized ? trustedPath(chain) : chain,
  }
}

/** Codes of OpenSSL that Node calls UNSPECIFIED, by OpenSSL’s text. */
const UNNAMED_CODES: Record<string, string> = {
  'permitted subtree violation': 'PERMITTED_VIOLATION',
  'excluded subtree violation': 'EXCLUDED_VIOLATION',
  'unhandled critical extension': 'UNHANDLED_CRITICAL_EXTENSION',
  'EE certificate key too weak': 'EE_KEY_TOO_SMALL',
  'CA certificate key too weak': 'CA_KEY_TOO_SMALL',
  'CA signature digest algorithm too weak': 'CA_MD_TOO_WEAK',
}

/** The part of TLSSocket’s handle that knows OpenSSL’s text. It is not documented. */
type Handle = { ssl?: { verifyError?: () => Error | null | undefined } }

function trustErrorOf(secured: TLSSocket): Pick<TlsFacts, 'trustError' | 'trustErrorText'> {
  if (secured.authorized) return { trustError: null, trustErrorText: null }
  // Node's types say Error; it is OpenSSL's code.
  const code = String(secured.authorizationError)
  const text = (secured as unknown as Handle).ssl?.verifyError?.()?.message ?? code
  return { trustError: UNNAMED_CODES[text] ?? code, trustErrorText: text }
}

/** OpenSSL's words for an answer that is no TLS record. */
const NOT_TLS =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|HTTPS_PROXY_REQUEST|RECORD_LAYER_FAILURE/

function faultOf(failure: HandshakeFailure, { target, port, starttls }: TlsProbe): Fault {
  const where = `Port ${port} of ${target.host}`
  if (NOT_TLS.test(failure.code)) {
    const usual = starttls ? undefined : STARTTLS_PORTS[port]
    const hint = usual ? ` This port usually uses STARTTLS. Check it with starttls=${usual}.` : ''
    return upstreamRejected(`${where} does not speak TLS.${hint}`)
  }
  const what =
    failure.code === 'ECONNRESET'
      ? 'closed the connection during the TLS handshake'
      : `failed the TLS handshake: ${failure.message}`
  return new Fault('upstream_unreachable', `${where} ${what}.`, { cause: failure })
}
