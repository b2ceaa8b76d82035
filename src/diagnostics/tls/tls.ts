import type { Static } from 'typebox'
import { parseHost } from '../../net/address.ts'
import type { CertificateFacts } from '../../net/tls/certificate.ts'
import { checkTarget } from '../../net/guard.ts'
import { STARTTLS_DEFAULT_PORT } from '../../net/tls/starttls.ts'
import { probeTls, type TlsFacts } from '../../net/tls/probe-tls.ts'
import { endOf } from '../../net/tls/trusted-path.ts'
import { defineCheck } from '../check.ts'
import type { CheckDeps } from '../check-services.ts'
import { TlsQuery, TlsResult } from '../shapes.ts'
import { daysUntil, tlsWarnings } from './tls-warnings.ts'

const EXAMPLE_LEAF = {
  subject: { CN: 'example.com' },
  issuer: { C: 'US', O: "Let's Encrypt", CN: 'R12' },
  validFrom: '2026-10-01T08:00:00.000Z',
  validTo: '2026-12-30T07:59:59.000Z',
  serialNumber: '04:9F:3C:11:5A:77',
  fingerprint256: Array.from({ length: 32 }, () => 'A7').join(':'),
}

export const tlsCheck = defineCheck({
  name: 'ssl',
  path: '/api/v1/ssl-check',
  summary: 'Check the TLS certificate of a host',
  description:
    'Performs one TLS handshake and reports the certificate, also when it is expired, self-signed or for another host. Use `starttls` for mail, directory and database servers.',
  query: TlsQuery,
  data: TlsResult,
  example: {
    query: { domain: 'example.com' },
    data: {
      domain: 'example.com',
      ...EXAMPLE_LEAF,
      daysRemaining: 38,
      isExpired: false,
      subjectAltNames: ['example.com', 'www.example.com'],
      protocol: 'TLSv1.3',
      cipher: {
        name: 'TLS_AES_256_GCM_SHA384',
        version: 'TLSv1.3',
        standardName: 'TLS_AES_256_GCM_SHA384',
      },
      authorized: true,
      authorizationError: null,
      hostnameMatches: true,
      chain: [{ ...EXAMPLE_LEAF, isCa: false }],
      keyType: 'ec',
      keyBits: 256,
      signatureAlgorithm: 'sha256WithRSAEncryption',
      address: '192.0.2.10',
      port: 443,
      starttls: null,
      handshakeMs: 24,
      warnings: [],
    },
  },
  run: checkTls,
})

async function checkTls(
  query: Static<typeof TlsQuery>,
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<TlsResult> {
  const host = parseHost(query.domain, 'domain')
  const { starttls } = query
  const port = query.port ?? (starttls ? STARTTLS_DEFAULT_PORT[starttls] : 443)
  const name = host.kind === 'ip' ? host.address : host.name
  const target = await checkTarget(host, deps, signal)
  const facts = await probeTls({ target, port, starttls, signal })
  return {
    domain: name,
    starttls: starttls ?? null,
    ...resultOf(facts),
    warnings: tlsWarnings(name, facts),
  }
}

function resultOf(facts: TlsFacts): Omit<TlsResult, 'domain' | 'starttls' | 'warnings'> {
  const { isTrusted, trustError, hostnameMatches, address, port, protocol, cipher, handshakeMs } =
    facts
  const [leaf] = facts.chain
  const { validTo } = endOf(facts.path)
  return {
    ...certificateOf(leaf),
    daysRemaining: daysUntil(validTo),
    isExpired: validTo.getTime() < Date.now(),
    subjectAltNames: leaf.subjectAltNames,
    protocol,
    cipher,
    authorized: isTrusted && hostnameMatches,
    authorizationError: trustError ?? (hostnameMatches ? null : 'ERR_TLS_CERT_ALTNAME_INVALID'),
    hostnameMatches,
    chain: facts.chain.map((link) => ({ ...certificateOf(link), isCa: link.isCa })),
    keyType: leaf.keyType,
    keyBits: leaf.keyBits,
    signatureAlgorithm: leaf.signatureAlgorithm,
    address,
    port,
    handshakeMs,
  }
}

function certificateOf({
  subject,
  issuer,
  validFrom,
  validTo,
  serialNumber,
  fingerprint256,
}: CertificateFacts) {
  const times = { validFrom: validFrom.toISOString(), validTo: validTo.toISOString() }
  return { subject, issuer, ...times, serialNumber, fingerprint256 }
}
