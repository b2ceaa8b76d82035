import { elements, type Element } from '../../net/tls/ber.ts'

/** A GeneralName (RFC 5280, 4.2.1.6): the number of its kind, and its content in DER. */
export type GeneralName = { kind: number; value: Buffer }

/** Kinds of GeneralName. */
export const EMAIL = 1
export const DNS = 2
export const DIRECTORY = 4
export const URI = 6
export const ADDRESS = 7

/** Subtrees of names (RFC 5280, 4.2.1.10). */
export type NameConstraints = { permitted: GeneralName[]; excluded: GeneralName[] }

/** What the extensions of a certificate say of chains, which Node does not show. */
export type Extensions = {
  /** Issuers that may stand between this one and the server’s certificate; null without limit. */
  pathLength: number | null
  constraints: NameConstraints | null
  /** All that constraints are about: subject, alternative names, and a host in the common name. */
  names: GeneralName[]
  isCriticalUnknown: boolean
}

/** Object identifiers in hex. */
const OID = {
  commonName: '550403',
  emailAddress: '2a864886f70d010901',
  altNames: '551d11',
  basicConstraints: '551d13',
  nameConstraints: '551d1e',
}

/**
 * Those that OpenSSL knows: key usage, names, constraints, policies, revocation lists, purposes,
 * Netscape’s certificate type, and addresses and AS numbers (RFC 3779).
 */
const KNOWN = new Set(['551d0f', '551d11', '551d13', '551d1e', '551d1f', '551d20', '551d21', '551d24', '551d25', '551d36', '6086480186f8420101', '2b06010505070107', '2b06010505070108', '2b0601050507300105']) // prettier-ignore

const TAG = { boolean: 0x01, integer: 0x02, octets: 0x04, oid: 0x06, extensions: 0xa3 }

/** Reads a certificate in DER (RFC 5280, 4.1) that OpenSSL has read before. */
export function readExtensions(certificate: Buffer): Extensions {
  const [tbs] = childrenOf(elements(certificate)[0])
  const fields = childrenOf(tbs)
  // Version, serial number, algorithm, issuer, validity, subject.
  const subject = fields[5]?.value ?? Buffer.alloc(0)
  const list = childrenOf(childrenOf(fields.find(({ tag }) => tag === TAG.extensions))[0])
  const found = new Map(
    list.map((extension) => {
      const parts = childrenOf(extension)
      const isCritical = parts[1]?.tag === TAG.boolean && parts[1].value[0] !== 0
      return [hexOf(parts[0]), { isCritical, content: elements(parts.at(-1)?.value)[0] }]
    }),
  )
  const contentOf = (oid: string) => childrenOf(found.get(oid)?.content)
  return {
    pathLength: numberOf(contentOf(OID.basicConstraints).find(({ tag }) => tag === TAG.integer)),
    constraints: found.has(OID.nameConstraints)
      ? readConstraints(contentOf(OID.nameConstraints))
      : null,
    names: namesOf(subject, contentOf(OID.altNames).map(generalName)),
    isCriticalUnknown: [...found].some(([oid, { isCritical }]) => isCritical && !KNOWN.has(oid)),
  }
}

const childrenOf = (element: Element | undefined) => elements(element?.value)
const hexOf = (element: Element | undefined) => element?.value.toString('hex') ?? ''
const generalName = ({ tag, value }: Element): GeneralName => ({ kind: tag & 0x1f, value })

function numberOf(element: Element | undefined): number | null {
  return element ? Number(BigInt(`0x${element.value.toString('hex') || '0'}`)) : null
}

/** `minimum` and `maximum` of a subtree are not used (RFC 5280, 4.2.1.10). */
function readConstraints(parts: Element[]): NameConstraints {
  const subtrees = (kind: number) =>
    parts
      .filter(({ tag }) => (tag & 0x1f) === kind)
      .flatMap((part) => childrenOf(part))
      .flatMap((subtree) => childrenOf(subtree).slice(0, 1).map(generalName))
  return { permitted: subtrees(0), excluded: subtrees(1) }
}

const HOST = /^[\w*-]+(?:\.[\w-]+)+$/

function namesOf(subject: Buffer, altNames: GeneralName[]): GeneralName[] {
  const attributes = elements(subject).flatMap(childrenOf).map(childrenOf)
  const valuesOf = (oid: string) =>
    attributes.flatMap(([type, value]) => (value && hexOf(type) === oid ? [value.value] : []))
  const hosts = altNames.some(({ kind }) => kind === DNS) ? [] : valuesOf(OID.commonName)
  return [
    ...(subject.length > 0 ? [{ kind: DIRECTORY, value: subject }] : []),
    ...valuesOf(OID.emailAddress).map((value) => ({ kind: EMAIL, value })),
    ...altNames.map((name) => (name.kind === DIRECTORY ? unwrapped(name) : name)),
    ...hosts.flatMap((value) => (HOST.test(value.toString()) ? [{ kind: DNS, value }] : [])),
  ]
}

/** A directory name is in a tag of its own; what is left are the parts of the name. */
export function unwrapped({ kind, value }: GeneralName): GeneralName {
  return { kind, value: elements(value)[0]?.value ?? Buffer.alloc(0) }
}

/** The parts of a directory name, comparable as OpenSSL does: without case and repeated blanks. */
export function partsOf({ value }: GeneralName): string[] {
  return elements(value).map((part) =>
    childrenOf(part)
      .map((attribute) => {
        const [type, text] = childrenOf(attribute)
        const words = text?.value.toString().toLowerCase().trim().replaceAll(/\s+/g, ' ')
        return `${hexOf(type)}=${words}`
      })
      .toSorted()
      .join('+'),
  )
}
