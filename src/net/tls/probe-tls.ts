import type { Socket } from 'node:net'
import { checkServerIdentity, connect, type TLSSocket } from 'node:tls'
import { Fault, messageOf } from '../../errors.ts'
import { onAbort } from '../abort.ts'
import { chainOf, type CertificateFacts } from './certificate.ts'
import { upstreamRejected } from './conversation.ts'
import { openSocket, type Target } from '../guard.ts'
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
  /** OpenSSL's code of the first thing that is wrong with the chain (`CERT_HAS_EXPIRED`). */
  trustError: string | null
  /** Whether the certificate is for the host that was asked for. */
  hostnameMatches: boolean
  /** The leaf first; never empty. */
  chain: [CertificateFacts, ...CertificateFacts[]]
  /** The handshake succeeded only with the protocols and ciphers of long ago. */
  isOutdated: boolean
  handshakeMs: number
}

type Probe = { target: Target; port: number; starttls?: StartTls | undefined; signal: AbortSignal }

/**
 * Performs one handshake with a server, whatever the quality of its certificate, and reports its
 * details. If the server supports nothing better, the handshake is repeated with obsolete
 * protocols, because users check a server when something is wrong.
 * @throws Fault `upstream_rejected` (no TLS there, STARTTLS declined), `upstream_unreachable`,
 *   `upstream_timeout`
 */
export async function probeTls(probe: Probe): Promise<TlsFacts> {
  try {
    return await handshake(probe, { isOutdated: false })
  } catch (error) {
    if (!(error instanceof HandshakeFailure)) throw error
    const again = await handshake(probe, { isOutdated: true }).catch(() => null)
    if (again) return again
    throw faultOf(error, probe)
  }
}

/** Both sides speak, but not TLS with each other. */
class HandshakeFailure extends Error {
  readonly code: string
  constructor(cause: NodeJS.ErrnoException & { reason?: string }) {
    super(cause.reason ?? messageOf(cause), { cause })
    this.code = cause.code ?? ''
  }
}

/** Settings that TLS 1.0 servers and 512-bit keys need, and that OpenSSL’s defaults reject. */
const OUTDATED = { minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const

async function handshake(probe: Probe, { isOutdated }: { isOutdated: boolean }): Promise<TlsFacts> {
  const { target, port, starttls, signal } = probe
  const socket = await openSocket(target, port, signal)
  // Its errors reach us through the conversation or through TLS; without a listener they would end
  // the process.
  socket.on('error', () => {})
  try {
    if (starttls) await startTls(starttls, socket, signal)
    const started = performance.now()
    const secured = await secure(socket, target, isOutdated, signal)
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
  isOutdated: boolean,
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
    ...(isOutdated ? OUTDATED : {}),
  })
  secured.on('error', (error) => reject(new HandshakeFailure(error)))
  secured.once('secureConnect', () => resolve(secured))
  return promise.finally(leave)
}

function factsOf(
  secured: TLSSocket,
  target: Target,
): Omit<TlsFacts, 'port' | 'isOutdated' | 'handshakeMs'> {
  const leaf = secured.getPeerCertificate(true)
  const [first, ...others] = chainOf(leaf)
  if (!first) throw upstreamRejected(`${target.host} supports TLS but sent no certificate.`)
  return {
    address: secured.remoteAddress ?? '',
    protocol: secured.getProtocol() ?? 'unknown',
    cipher: secured.getCipher(),
    isTrusted: secured.authorized,
    // Node's types say Error; it is OpenSSL's code.
    trustError: secured.authorized ? null : String(secured.authorizationError),
    hostnameMatches: checkServerIdentity(target.host, leaf) === undefined,
    chain: [first, ...others],
  }
}

/** OpenSSL's words for an answer that is no TLS record. */
const NOT_TLS =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|HTTPS_PROXY_REQUEST|RECORD_LAYER_FAILURE/

function faultOf(failure: HandshakeFailure, { target, port, starttls }: Probe): Fault {
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
