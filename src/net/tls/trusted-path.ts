import { X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { DAY_MS } from '../../time.ts'
import { certificateFacts, type CertificateFacts } from './certificate.ts'

type Path = [CertificateFacts, ...CertificateFacts[]]

/**
 * The certificates on which trust in a trusted chain depends. A server may send issuers that clients
 * do not need, such as a new root that was signed by an old one as well; the old one may expire, as
 * long as the new one is in the trust store. Of several paths, the one that ends last counts.
 */
export function trustedPath(chain: Path): Path {
  const [leaf] = chain
  // Reading the trust store takes a tenth of a second: not for a difference that no one sees.
  if (leaf.validTo.getTime() - endOf(chain).validTo.getTime() < DAY_MS) return chain
  const sent = chain.map(({ der }) => new X509Certificate(der))
  const paths = sent.flatMap((certificate, index) =>
    rootsFor(certificate).map((root): Path => [
      leaf,
      ...chain.slice(1, index + 1),
      certificateFacts(root.raw),
    ]),
  )
  return [chain, ...paths].reduce((best, path) =>
    endOf(path).validTo > endOf(best).validTo ? path : best,
  )
}

/** The certificate that expires first. */
export function endOf(path: Path): CertificateFacts {
  return path.reduce((first, other) => (other.validTo < first.validTo ? other : first))
}

/** Whether a certificate is a root of the trust store. */
export function isRoot({ der }: CertificateFacts): boolean {
  const { subject } = new X509Certificate(der)
  return (rootsBySubject().get(subject) ?? []).some(({ raw }) => raw.equals(der))
}

function rootsFor(certificate: X509Certificate): X509Certificate[] {
  return (rootsBySubject().get(certificate.issuer) ?? []).filter(
    (root) => certificate.checkIssued(root) && certificate.verify(root.publicKey),
  )
}

let roots: { of: readonly string[]; bySubject: Map<string, X509Certificate[]> } | undefined

/** The trust store of TLS connections, read once. */
function rootsBySubject(): Map<string, X509Certificate[]> {
  const of = getCACertificates('default')
  if (roots?.of !== of)
    roots = { of, bySubject: Map.groupBy(of.map(parse), ({ subject }) => subject) }
  return roots.bySubject
}

const parse = (pem: string) => new X509Certificate(pem)
