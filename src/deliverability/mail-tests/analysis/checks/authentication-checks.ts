import type { ExaminedSignature } from '../../../../protocols/dkim/verify-dkim.ts'
import { parseSpf, isSpf } from '../../../../protocols/spf/spf-record.ts'
import { evaluateSpf } from '../../../../protocols/spf/evaluate-spf.ts'
import { missingForBimi, parseBimi } from '../../../../protocols/mail/bimi.ts'
import { failed, listed, notChecked, passed, type MailCheck, type Outcome } from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'

const group = 'authentication' as const
const NO_SIGNATURE = 'The mail has no DKIM signature.'

async function checkSpf(facts: MailFacts): Promise<Outcome> {
  const spf = await facts.spf()
  const { envelopeDomain: domain, mail } = facts
  if (!spf || domain === null)
    return notChecked('The sending address or the envelope sender is not known.')
  const why = spf.matched ? `“${spf.matched.term}” of ${spf.matched.domain} decides` : spf.reason
  const evidence = `SPF of ${domain} for ${mail.ip}: ${spf.result} (${why}).`
  switch (spf.result) {
    case 'pass':
      return passed(evidence)
    case 'temperror':
      return notChecked(evidence)
    case 'none':
      return failed(evidence, `Publish an SPF record at ${domain} that permits ${mail.ip}.`)
    case 'permerror':
      return failed(
        evidence,
        spf.reason?.endsWith(' SPF records')
          ? `Merge the SPF records of ${domain} into one TXT record that begins with v=spf1, and delete the others: with several, none counts.`
          : `Correct the SPF record of ${domain}; its error makes it void.`,
      )
    default:
      return failed(
        evidence,
        `Add ${mail.ip}, or the include of the service that sends, to the SPF record of ${domain}.`,
      )
  }
}

async function checkSpfOpen({ envelopeDomain, queries }: MailFacts): Promise<Outcome> {
  if (envelopeDomain === null) return notChecked('The envelope sender is not known.')
  const { texts, error } = await queries.lookUpTxt(envelopeDomain)
  const record = texts.find(isSpf)
  if (error) return notChecked(`The records of ${envelopeDomain} could not be looked up.`)
  if (record === undefined) return notChecked(`${envelopeDomain} has no SPF record.`)
  const permitsAll = parseSpf(record).terms.some(
    (term) => term.kind === 'mechanism' && term.name === 'all' && term.qualifier === '+',
  )
  return permitsAll
    ? failed(
        `The record of ${envelopeDomain} permits every address (+all).`,
        'End the record with ~all or -all.',
      )
    : passed(`The record of ${envelopeDomain} does not permit every address.`)
}

async function checkSpfHelo({
  mail: { helo, ip, mailFrom },
  queries,
}: MailFacts): Promise<Outcome> {
  if (!helo || ip === null || mailFrom === '')
    return notChecked('The greeting is not checked apart.')
  const { result } = await evaluateSpf({ ip, sender: '', helo }, queries)
  if (result === 'temperror') return notChecked(`SPF of ${helo} could not be evaluated.`)
  if (result === 'pass' || result === 'none') return passed(`SPF of ${helo}: ${result}.`)
  return failed(
    `SPF of the greeting ${helo}: ${result}.`,
    `Publish “v=spf1 a -all” at ${helo}, with the address of the server.`,
  )
}

async function checkDkim(facts: MailFacts): Promise<Outcome> {
  const signatures = await facts.signatures()
  if (signatures.length === 0)
    return failed(NO_SIGNATURE, 'Turn on DKIM signing in the mail server, and publish its key.')
  const evidence = `${signatures.map(describeSignature).join('. ')}.`
  if (signatures.some(({ result }) => result === 'pass')) return passed(evidence)
  if (signatures.some(({ result }) => result === 'temperror')) return notChecked(evidence)
  return failed(evidence, fixOf(signatures[0]!))
}

function describeSignature({ domain, result, signature, key }: ExaminedSignature): string {
  const who = signature ? `${signature.domain} (selector ${signature.selector})` : (domain ?? '?')
  return `Signature of ${who}: ${result}${result === 'pass' ? '' : ` (${whyNot(signature, key, result)})`}`
}

function whyNot(
  signature: ExaminedSignature['signature'],
  key: ExaminedSignature['key'],
  result: string,
): string {
  if (!signature) return 'it cannot be read'
  if ((signature.expires ?? Infinity) < Date.now() / 1000) return 'it has expired'
  if (signature.hash === 'sha1') return 'rsa-sha1 no longer counts'
  if (result === 'temperror') return 'its key could not be looked up'
  if (key?.revoked) return 'its key was revoked'
  if (key?.errors[0] !== undefined) return `its key record is invalid: ${key.errors[0]}`
  if (result === 'policy' && key) return `its key has only ${key.bits} bits`
  if (result === 'policy') return 'it covers only a part of the body'
  if (result === 'fail' && key)
    return 'the signed header fields were changed, or the key is another'
  if (result === 'fail') return 'the body was changed after signing'
  return 'there is no key at its selector'
}

function fixOf({ signature, key, result }: ExaminedSignature): string {
  if (!signature) return 'Repair the DKIM-Signature field: let the mail server write it.'
  const name = `${signature.selector}._domainkey.${signature.domain}`
  if (result === 'fail' && !key)
    return 'Find out what changes the mail after signing, such as a footer or a content filter, and sign last.'
  if (result === 'policy' && key) return `Create a key of 2048 bits and publish it at ${name}.`
  if (result === 'policy')
    return 'Sign the whole body with rsa-sha256: remove l= from the signing settings.'
  return `Publish the public key that belongs to the signing key at ${name}.`
}

async function checkAuthenticated(facts: MailFacts): Promise<Outcome> {
  const [spf, signatures] = await Promise.all([facts.spf(), facts.signatures()])
  const results = [spf?.result ?? 'none', ...signatures.map(({ result }) => result)]
  if (results.includes('pass')) return passed('SPF or DKIM passes.')
  const isUnknown = spf === null || results.includes('temperror')
  if (isUnknown) return notChecked('Neither passes as far as could be checked.')
  return failed(
    `Neither SPF (${results[0]}) nor DKIM (${signatures[0]?.result ?? 'none'}) passes.`,
    'Set up DKIM signing and an SPF record; receivers reject mail that has neither.',
  )
}

async function checkOtherSignatures(facts: MailFacts): Promise<Outcome> {
  const signatures = await facts.signatures()
  if (signatures.length === 0) return notChecked(NO_SIGNATURE)
  const bad = signatures.filter(({ result }) => result !== 'pass' && result !== 'temperror')
  // That none passes is another check.
  if (bad.length === signatures.length) return notChecked('No signature verifies.')
  if (bad.length === 0)
    return passed(signatures.length === 1 ? 'The mail has one.' : `All ${signatures.length} do.`)
  return failed(
    `${listed(bad.map(describeSignature))}.`,
    'Remove the signature that does not verify, or publish its key.',
  )
}

/** A check of each signature that was read. `find` returns what is wrong with one. */
function perSignature(
  find: (
    signature: NonNullable<ExaminedSignature['signature']>,
    one: ExaminedSignature,
  ) => string | null,
  {
    good,
    fix,
    severityOf,
  }: {
    good: string
    fix: string
    severityOf?: (facts: MailFacts, signatures: ExaminedSignature[]) => 'blocks' | 'hurts' | 'note'
  },
): MailCheck['run'] {
  return async (facts) => {
    const signatures = await facts.signatures()
    const readable = signatures.filter(({ signature }) => signature !== null)
    if (readable.length === 0) return notChecked(NO_SIGNATURE)
    const wrong = readable.flatMap((one) => find(one.signature!, one) ?? [])
    if (wrong.length === 0) return passed(good)
    return failed(`${listed(wrong)}.`, fix, severityOf?.(facts, signatures))
  }
}

const checkKeySize = perSignature(
  ({ domain, selector }, { key }) =>
    key?.keyType === 'rsa' && key.bits !== null && key.bits < 1024
      ? `The key ${selector} of ${domain} has ${key.bits} bits`
      : null,
  {
    good: 'Every key has 1024 bits or more, or is an Ed25519 key.',
    fix: 'Create a key of 2048 bits, publish it at a new selector, and sign with it.',
    // Another signature that passes is what receivers use.
    severityOf: (_facts, signatures) =>
      signatures.some(({ result }) => result === 'pass') ? 'hurts' : 'blocks',
  },
)

const checkKeyStrength = perSignature(
  ({ domain, selector }, { key }) =>
    key?.keyType === 'rsa' && key.bits !== null && key.bits >= 1024 && key.bits < 2048
      ? `The key ${selector} of ${domain} has ${key.bits} bits`
      : null,
  { good: 'No key has less than 2048 bits.', fix: 'Change to a key of 2048 bits.' },
)

const checkBodyLength = perSignature(
  ({ domain, length }) => (length === null ? null : `The signature of ${domain} has l=${length}`),
  {
    good: 'Every signature covers the whole body.',
    fix: 'Remove l= from the signing settings: anyone can append text to such a mail.',
  },
)

const checkExpiry = perSignature(
  ({ domain, expires }) =>
    expires !== null && expires < Date.now() / 1000
      ? `The signature of ${domain} expired at ${new Date(expires * 1000).toISOString()}`
      : null,
  {
    good: 'No signature has expired.',
    fix: 'Let signatures live for a week or more (x=), or leave x= out.',
  },
)

const checkAlgorithm = perSignature(
  ({ domain, keyType, hash }) =>
    hash === 'sha256' ? null : `The signature of ${domain} uses ${keyType}-${hash}`,
  { good: 'Every signature uses SHA-256.', fix: 'Sign with rsa-sha256.' },
)

const checkTesting = perSignature(
  ({ domain, selector }, { key }) =>
    key?.testing ? `The key ${selector} of ${domain} is in test mode (t=y)` : null,
  { good: 'No key is in test mode.', fix: 'Remove t=y from the key record.' },
)

const IMPORTANT_FIELDS = ['from', 'to', 'subject', 'date']

const checkSignedFields: MailCheck['run'] = async (facts) => {
  const signatures = await facts.signatures()
  const valid = signatures.filter(({ result, signature }) => result === 'pass' && signature)
  if (valid.length === 0) return notChecked('The mail has no valid DKIM signature.')
  const present = IMPORTANT_FIELDS.filter((name) => facts.values(name).length > 0)
  const unsigned = present.filter((name) =>
    valid.every(({ signature }) => !signature!.signedFields.includes(name)),
  )
  if (unsigned.length === 0) return passed(`Signed fields: ${listed(present)}.`)
  return failed(
    `No signature covers ${listed(unsigned)}.`,
    'Sign From, To, Subject and Date, so that they cannot be changed.',
  )
}

const checkOversigning: MailCheck['run'] = async (facts) => {
  const signatures = await facts.signatures()
  const valid = signatures.filter(({ result, signature }) => result === 'pass' && signature)
  if (valid.length === 0) return notChecked('The mail has no valid DKIM signature.')
  const isOversigned = valid.some(
    ({ signature }) =>
      signature!.signedFields.filter((name) => name === 'from').length >
      facts.values('from').length,
  )
  return isOversigned
    ? passed('A second From field would break the signature.')
    : failed(
        'A second From field could be added without breaking the signature.',
        'List From twice in h= (OpenDKIM: OversignHeaders From).',
      )
}

const checkDmarcRecord: MailCheck['run'] = async (facts) => {
  const found = await facts.dmarcRecord()
  if (!found) return notChecked('From has no single domain.')
  if (found.error) return notChecked(`The record of ${found.domain} could not be looked up.`)
  if (found.record) return passed(`${found.policyDomain} publishes ${found.record.text}`)
  const [own] = found.steps
  if (own && own.records.length > 1)
    return failed(
      `_dmarc.${found.domain} has ${own.records.length} DMARC records, so none counts.`,
      'Keep one of them.',
    )
  return failed(
    `${found.domain} has no DMARC record.`,
    `Publish “v=DMARC1; p=none; rua=mailto:…” at _dmarc.${found.organizationalDomain}.`,
  )
}

const checkDmarc: MailCheck['run'] = async (facts) => {
  const [found, verdict] = await Promise.all([facts.dmarcRecord(), facts.dmarc()])
  if (!found || !verdict)
    return notChecked('From has no single domain, so DMARC has nothing to check.')
  if (verdict.result === 'temperror') return notChecked('An answer that decides it is missing.')
  if (verdict.result === 'none') return notChecked(`${found.domain} has no DMARC record.`)
  const identifiers = verdict.aligned.map(
    ({ method, domain }) => `${method.toUpperCase()} of ${domain}`,
  )
  if (verdict.result === 'pass')
    return passed(`Aligned with ${found.domain}: ${listed(identifiers)}.`)
  if (
    (await facts.spf()) === null &&
    (await facts.signatures()).every(({ result }) => result !== 'pass')
  )
    return notChecked('SPF is not known, and no signature passes.')
  const policy = found.record?.testing ? weaker(verdict.policy) : verdict.policy
  const { spf, dkim } = await passingDomains(facts)
  const signer = found.record?.adkim === 's' ? found.domain : found.organizationalDomain
  const others = [
    ...(spf === null ? [] : [`SPF for ${spf}`]),
    ...(dkim.length === 0 ? [] : [`DKIM for ${listed(dkim)}`]),
  ]
  const what =
    others.length === 0
      ? 'Neither SPF nor DKIM passes'
      : `What passes belongs to another domain (${others.join(', ')})`
  return failed(
    `${what}, so nothing proves ${found.domain}; its policy is ${verdict.policy}.`,
    dkim.length === 0
      ? `Sign with DKIM as ${signer} (d=), or send with an envelope sender of ${found.domain}.`
      : `Where the mail is signed as ${dkim[0]}, set up signing as ${signer}; a service that sends for you names the key to publish in the DNS of ${signer}. An envelope sender of ${found.domain} would do, too.`,
    policy === 'none' ? 'hurts' : 'blocks',
  )
}

/** The domains for which SPF and DKIM pass, whether aligned or not. */
async function passingDomains(facts: MailFacts): Promise<{ spf: string | null; dkim: string[] }> {
  const [spf, signatures] = await Promise.all([facts.spf(), facts.signatures()])
  const signers = signatures.flatMap(({ result, domain }) =>
    result === 'pass' && domain !== null ? [domain] : [],
  )
  return { spf: spf?.result === 'pass' ? facts.envelopeDomain : null, dkim: [...new Set(signers)] }
}

/** RFC 9989, 4.7: `t=y` asks for one level less. */
function weaker(policy: string | null): string {
  return policy === 'reject' ? 'quarantine' : 'none'
}

const aligned =
  (method: 'spf' | 'dkim', fix: string): MailCheck['run'] =>
  async (facts) => {
    const [found, verdict] = await Promise.all([facts.dmarcRecord(), facts.dmarc()])
    if (!found || !verdict) return notChecked('From has no single domain.')
    if (verdict.result === 'none') return notChecked(`${found.domain} has no DMARC record.`)
    if (method === 'spf' && (await facts.spf()) === null) return notChecked('SPF is not known.')
    const names = verdict.aligned.filter((one) => one.method === method).map(({ domain }) => domain)
    if (names.length > 0)
      return passed(`${listed(names.map(String))} is aligned with ${found.domain}.`)
    if (verdict.result === 'temperror') return notChecked('An answer that decides it is missing.')
    const passing = await passingDomains(facts)
    const isStrict = found.record?.[method === 'spf' ? 'aspf' : 'adkim'] === 's'
    const others = method === 'dkim' ? passing.dkim : passing.spf === null ? [] : [passing.spf]
    // That nothing passes is another finding, as is a mail that nothing proves.
    if (others.length === 0)
      return notChecked(`No ${method.toUpperCase()} result passes, so none can be aligned.`)
    return failed(
      `${method.toUpperCase()} passes for ${listed(others)}, which is not aligned with ${found.domain}${isStrict ? ' (alignment is strict)' : ''}.`,
      fix,
      verdict.result === 'pass' ? undefined : 'note',
    )
  }

const checkPolicy: MailCheck['run'] = async (facts) => {
  const found = await facts.dmarcRecord()
  if (!found?.record) return notChecked('There is no DMARC record.')
  const { effectivePolicy: policy } = found
  if (policy === 'quarantine' || policy === 'reject') return passed(`The policy is ${policy}.`)
  return failed(
    `The policy of ${found.policyDomain} is none, which asks receivers to deliver spoofed mail.`,
    'Move to p=quarantine once the reports show that your own mail passes.',
  )
}

const checkArc: MailCheck['run'] = async (facts) => {
  const { result, instances, sealedBy, reason } = await facts.arc()
  if (result === 'none') return passed('The mail was not forwarded with ARC.')
  if (result === 'temperror') return notChecked(`The ARC chain could not be verified: ${reason}.`)
  if (result === 'pass')
    return passed(`The ARC chain of ${instances} passes; ${sealedBy} sealed it last.`)
  return failed(
    `The ARC chain does not pass: ${reason}.`,
    'Repair ARC at the server that forwards, or turn it off there.',
  )
}

const checkBimi: MailCheck['run'] = async (facts) => {
  const found = await facts.dmarcRecord()
  if (!found) return notChecked('From has no single domain.')
  const names = [...new Set([found.domain, found.organizationalDomain])]
  for (const domain of names) {
    const { texts, error } = await facts.queries.lookUpTxt(`default._bimi.${domain}`)
    if (error) return notChecked(`default._bimi.${domain} could not be looked up.`)
    const record = texts.map(parseBimi).find((one) => one !== null)
    if (!record) continue
    const missing = record.declined ? [] : missingForBimi(record, found)
    if (missing.length === 0) return passed(`${domain} has a BIMI record.`)
    return failed(
      `The BIMI record of ${domain} shows no logo yet: it lacks ${missing.join(', and ')}.`,
      'Add what is missing, or leave BIMI until later: it does not decide about delivery.',
    )
  }
  return notChecked(`${found.domain} has no BIMI record. It is optional.`)
}

const RFC_DKIM = 'RFC 6376'

export const AUTHENTICATION_CHECKS: MailCheck[] = [
  {
    id: 'authenticated',
    group,
    severity: 'blocks',
    title: 'SPF or DKIM',
    rule: 'SPF or DKIM passes.',
    source: 'Google Email sender guidelines; Yahoo Sender Requirements',
    run: checkAuthenticated,
  },
  {
    id: 'spf',
    group,
    severity: 'hurts',
    title: 'SPF',
    rule: 'The SPF record of the envelope sender’s domain permits the sending address.',
    source: 'RFC 7208, 2.4',
    run: checkSpf,
  },
  {
    id: 'spf-open',
    group,
    severity: 'hurts',
    title: 'SPF for everyone',
    rule: 'The SPF record does not permit every address.',
    source: 'RFC 7208, 8.4',
    run: checkSpfOpen,
  },
  {
    id: 'spf-helo',
    group,
    severity: 'note',
    title: 'SPF of the greeting',
    rule: 'The name in the greeting permits the sending address, if it has an SPF record.',
    source: 'RFC 7208, 2.3',
    run: checkSpfHelo,
  },
  {
    id: 'dkim',
    group,
    severity: 'hurts',
    title: 'DKIM',
    rule: 'A DKIM signature of the mail verifies.',
    source: `${RFC_DKIM}, 6.1`,
    run: checkDkim,
  },
  {
    id: 'dkim-others',
    group,
    severity: 'note',
    title: 'Further signatures',
    rule: 'Every DKIM signature verifies.',
    source: `${RFC_DKIM}, 4.2`,
    run: checkOtherSignatures,
  },
  {
    id: 'dkim-key-size',
    group,
    severity: 'blocks',
    title: 'Size of the DKIM key',
    rule: 'RSA keys have at least 1024 bits.',
    source: 'RFC 8301, 3.2; Google Email sender guidelines',
    run: checkKeySize,
  },
  {
    id: 'dkim-key-strength',
    group,
    severity: 'note',
    title: 'Strength of the DKIM key',
    rule: 'RSA keys should have 2048 bits.',
    source: 'RFC 8301, 3.2',
    run: checkKeyStrength,
  },
  {
    id: 'dkim-algorithm',
    group,
    severity: 'hurts',
    title: 'Algorithm of the signature',
    rule: 'Signatures use SHA-256.',
    source: 'RFC 8301, 3.1',
    run: checkAlgorithm,
  },
  {
    id: 'dkim-length',
    group,
    severity: 'hurts',
    title: 'Signed part of the body',
    rule: 'The signature covers the whole body.',
    source: `${RFC_DKIM}, 8.2`,
    run: checkBodyLength,
  },
  {
    id: 'dkim-expiry',
    group,
    severity: 'hurts',
    title: 'Expiry of the signature',
    rule: 'The signature has not expired.',
    source: `${RFC_DKIM}, 3.5`,
    run: checkExpiry,
  },
  {
    id: 'dkim-testing',
    group,
    severity: 'note',
    title: 'DKIM test mode',
    rule: 'The key is not in test mode.',
    source: `${RFC_DKIM}, 3.6.1`,
    run: checkTesting,
  },
  {
    id: 'dkim-fields',
    group,
    severity: 'hurts',
    title: 'Signed header fields',
    rule: 'From, To, Subject and Date are signed.',
    source: `${RFC_DKIM}, 5.4.1`,
    run: checkSignedFields,
  },
  {
    id: 'dkim-oversigning',
    group,
    severity: 'note',
    title: 'Protection of From',
    rule: 'A further From field breaks the signature.',
    source: `${RFC_DKIM}, 8.15`,
    run: checkOversigning,
  },
  {
    id: 'dmarc-record',
    group,
    severity: 'hurts',
    title: 'DMARC record',
    rule: 'The domain in From has a DMARC record.',
    source: 'RFC 9989, 4.10; Google Email sender guidelines',
    run: checkDmarcRecord,
  },
  {
    id: 'dmarc',
    group,
    severity: 'blocks',
    title: 'DMARC',
    rule: 'SPF or DKIM passes with a domain that is aligned with From.',
    source: 'RFC 9989, 5.3',
    run: checkDmarc,
  },
  {
    id: 'spf-aligned',
    group,
    severity: 'note',
    title: 'SPF alignment',
    rule: 'The domain that passes SPF is aligned with From.',
    source: 'RFC 9989, 4.4',
    run: aligned(
      'spf',
      'Nothing, where DKIM is aligned: DMARC needs one of the two. Else send with an envelope sender of the domain in From.',
    ),
  },
  {
    id: 'dkim-aligned',
    group,
    severity: 'hurts',
    title: 'DKIM alignment',
    rule: 'The domain that signs is aligned with From.',
    source: 'RFC 9989, 4.4',
    run: aligned('dkim', 'Set up DKIM signing with the domain in From at the service that sends.'),
  },
  {
    id: 'dmarc-policy',
    group,
    severity: 'note',
    title: 'DMARC policy',
    rule: 'The policy asks receivers to stop spoofed mail.',
    source: 'RFC 9989, 5.1',
    run: checkPolicy,
  },
  {
    id: 'arc',
    group,
    severity: 'note',
    title: 'ARC chain',
    rule: 'A mail that was forwarded with ARC has a chain that passes.',
    source: 'RFC 8617, 5.2',
    run: checkArc,
  },
  {
    id: 'bimi',
    group,
    severity: 'note',
    title: 'Brand logo',
    rule: 'A published BIMI record is complete.',
    source: 'BIMI draft (draft-brand-indicators-for-message-identification)',
    run: checkBimi,
  },
]
