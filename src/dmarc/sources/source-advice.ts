import { isIPv6 } from 'node:net'
import { isSpfRefusal } from '../../protocols/reports/aggregate-record.ts'
import type { SOURCE_VERDICTS } from '../shapes.ts'
import type { SourceRow } from '../summary/dmarc-summary.sql.ts'
import type { EnvelopeSeen, Identities, SignerSeen } from './identities.ts'

/** A DNS record to publish, or an addition to one. */
type RecordAddition = { name: string; type: 'TXT'; value: string }
type AdviceStep = { text: string; publish: RecordAddition | null }

/** A source's verdict, and the steps for its owner. */
export type SourceAdvice = {
  verdict: (typeof SOURCE_VERDICTS)[number]
  sentence: string
  steps: AdviceStep[]
  /**
   * What applies if the source is unknown to the domain's owner; null where that makes no
   * difference.
   */
  otherwise: string | null
}

type Counts = Pick<SourceRow, 'group' | 'messages' | 'aligned' | 'dkim' | 'spf'>

/**
 * Recommends actions for one source.
 * @param identities of all its messages, and of the failed ones
 */
export function adviseOnSource(
  domain: string,
  address: string,
  source: Counts | undefined,
  { all, failed }: { all: Identities; failed: Identities },
): SourceAdvice {
  if (!source)
    return {
      verdict: 'no-data',
      sentence: 'No messages from this source in this period.',
      steps: [],
      otherwise: null,
    }
  if (source.group === 'aligned') return ofAligned(domain, address, source, all)
  if (source.group === 'forwarder-like') return ofForwarder(domain, address, source, all)
  const share =
    source.group === 'failing' ? 'None of its messages passed' : 'Some of its messages failed'
  return {
    verdict: source.group === 'failing' ? 'failing' : 'partly',
    sentence: `${share}: neither DKIM nor SPF aligned with ${domain}.`,
    steps: [dkimStep(domain, failed), spfStep(domain, address, failed)],
    otherwise: undecided(domain, failed) ?? STRANGERS[source.group],
  }
}

const STRANGERS = {
  failing:
    'This sender is spoofing your domain. No setup is needed: with p=reject, receivers block it.',
  'partly-aligned':
    'A service that may send for you also lets other customers send as your domain. Report this to its operator.',
}

/** What says nothing of a message: the receiver could not evaluate it (RFC 8601, 2.7). */
const UNDECIDED = { dkim: ['temperror', 'permerror', 'neutral'], spf: ['temperror', 'permerror'] }

/**
 * What applies where receivers could not evaluate messages that claim to be from the domain: they
 * may be genuine. Null where they evaluated all of them.
 */
function undecided(domain: string, { signers, envelopes }: Identities): string | null {
  const results = [
    ...signers.filter(({ own, result }) => own && UNDECIDED.dkim.includes(result)),
    ...envelopes.filter(({ own, result }) => own && UNDECIDED.spf.includes(result)),
  ].map(({ result }) => result)
  if (results.length === 0) return null
  const named = [...new Set(results)].toSorted().join(', ')
  return `The reports do not show whether this sender is spoofing ${domain}: receivers could not evaluate its messages (${named}).`
}

function ofAligned(
  domain: string,
  address: string,
  { messages, dkim, spf }: Counts,
  seen: Identities,
): SourceAdvice {
  const good = { verdict: 'good' as const, steps: [], otherwise: null }
  if (dkim === messages && spf === messages) {
    return {
      ...good,
      sentence: 'All of its messages passed, by DKIM and by SPF. No action needed.',
    }
  }
  if (dkim === messages) {
    const sentence =
      'All of its messages passed by DKIM, which also survives forwarding. No action needed.'
    return { ...good, sentence }
  }
  const part = dkim === 0 ? 'only by SPF' : 'some only by SPF'
  const sentence = `All of its messages passed, but ${part}. Such messages fail when they are forwarded.`
  return {
    verdict: 'half',
    sentence,
    steps: [dkimStep(domain, seen), spfStep(domain, address, seen)],
    otherwise: null,
  }
}

function ofForwarder(
  domain: string,
  address: string,
  { messages, aligned }: Counts,
  seen: Identities,
): SourceAdvice {
  const forwarder = { verdict: 'forwarder' as const, steps: [], otherwise: null }
  if (aligned < messages) {
    return {
      ...forwarder,
      sentence:
        'A mailing list or forwarding address passes your messages on and changes them or their sender.',
      otherwise:
        'You cannot configure this. Most receivers recognize forwarded messages and accept them despite the policy. Make sure that everything you send yourself is signed.',
    }
  }
  const valid =
    'A forwarder passes your messages on, and your signature stays valid. No action needed.'
  const failure = findSpfFailure(seen)
  if (!failure || describeSpf(failure) === 'unknown') return { ...forwarder, sentence: valid }
  return {
    ...forwarder,
    sentence:
      describeSpf(failure) === 'refused'
        ? 'All of its messages passed by your signature, but your SPF record does not include this address.'
        : 'All of its messages passed by your signature, but SPF did not pass for your domain.',
    steps: [spfFailureStep(failure, domain, address)],
    otherwise: valid,
  }
}

/**
 * The DKIM step: whether the source signs, for which domain, and whether its signatures are valid.
 */
function dkimStep(domain: string, { signers, unsigned, inexact }: Identities): AdviceStep {
  const own = signers.filter((signer) => signer.own)
  const isAligned = own.some(({ aligned }) => aligned > 0)
  const [broken] = own
    .filter(({ result }) => result !== 'pass' && !(result === 'temperror' && isAligned))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
  const strange = signers.find((signer) => !signer.own && signer.result === 'pass')
  if (broken) return { text: brokenText(broken), publish: null }
  if (isAligned && unsigned === 0) {
    return {
      text: `It signs for ${domain}, and the signature is valid. Keep it as it is.`,
      publish: null,
    }
  }
  if (own.length > 0 && unsigned === 0) {
    const text =
      inexact.dkim > 0
        ? 'Its signature is valid, but its domain differs from the From domain. Your record requires an exact match (adkim=s).'
        : 'Its signature is valid, but the receiver did not count it. The reports do not say why.'
    return { text, publish: null }
  }
  const now = strange
    ? `It signs as ${strange.domain ?? 'another domain'}, which does not align with ${domain}.`
    : 'It does not sign with DKIM.'
  const text = `${now} Set up DKIM signing for ${domain}: services call this custom DKIM or domain authentication, and list the records to publish.`
  return { text, publish: null }
}

/** What most likely needs an action comes first; an answer that was missing says least. */
const DKIM_RESULTS = ['fail', 'permerror', 'policy', 'neutral', 'unknown', 'temperror']

function rankOf({ result }: SignerSeen): number {
  const rank = DKIM_RESULTS.indexOf(result)
  return rank < 0 ? DKIM_RESULTS.indexOf('unknown') : rank
}

/** What a result other than `pass` says of a signature (RFC 8601, 2.7.1), and no more. */
function brokenText({ domain, selector, result }: SignerSeen): string {
  const key =
    selector === null ? `the DNS record of ${domain}’s key` : `${selector}._domainkey.${domain}`
  const signs = `It signs for ${domain}, but`
  switch (result) {
    case 'fail':
      return `${signs} the signature is not valid (fail). Check that ${key} has the matching key. If it does, something changes the messages after signing.`
    case 'permerror':
      return `${signs} the receiver could not use the signature or its key (permerror). Check that ${key} has a valid key.`
    case 'policy':
      return `${signs} the receiver does not accept this kind of signature (policy). Sign all of the message with rsa-sha256 and a key of 2048 bits.`
    case 'neutral':
      return `${signs} the receiver could not process the signature (neutral). Check that ${key} has a valid key, and that the signature follows RFC 6376.`
    case 'temperror':
      return `${signs} the receiver got no answer from DNS when it looked up the key (temperror). This says nothing about the key. If it recurs, check the name servers of ${domain}.`
    default:
      return `${signs} the reports do not say whether the signature is valid (${result}).`
  }
}

/**
 * The SPF step: the domain of the envelope sender, and whether that domain's record includes the
 * source.
 */
function spfStep(domain: string, address: string, { envelopes, inexact }: Identities): AdviceStep {
  const own = envelopes.filter((envelope) => envelope.own)
  const failure = findSpfFailure({ envelopes })
  const strange = envelopes.find((envelope) => !envelope.own && envelope.domain !== null)
  if (failure) return spfFailureStep(failure, domain, address)
  if (own.some(({ aligned }) => aligned > 0)) {
    return {
      text: `Its envelope sender uses ${domain}, and SPF passes. Keep it as it is.`,
      publish: null,
    }
  }
  if (own.length > 0) {
    const text =
      inexact.spf > 0
        ? 'SPF passes, but its domain differs from the From domain. Your record requires an exact match (aspf=s).'
        : 'SPF passes, but the receiver did not count it. The reports do not say why.'
    return { text, publish: null }
  }
  const now = strange
    ? `Its envelope sender uses ${strange.domain}${strange.result === 'unknown' ? '' : `, with the SPF result ${strange.result}`}. That does not align with ${domain}.`
    : 'The reports name no envelope sender.'
  const text = `${now} Set up an envelope sender below ${domain}; many services call it a custom return path. With valid DKIM, this is optional.`
  return { text, publish: null }
}

/** What a result other than `pass` says of the record (RFC 7208, 2.6; RFC 8601, 2.7.2). */
type SpfFailure = 'refused' | 'broken' | 'missing' | 'unknown'

function describeSpf({ result }: EnvelopeSeen): SpfFailure {
  if (isSpfRefusal(result)) return 'refused'
  return result === 'permerror' ? 'broken' : result === 'none' ? 'missing' : 'unknown'
}

/**
 * An envelope sender of the domain for which SPF does not pass from this source; one whose result
 * says something of the record, if there is one.
 */
function findSpfFailure({ envelopes }: Pick<Identities, 'envelopes'>): EnvelopeSeen | undefined {
  const failures = envelopes.filter(({ own, result }) => own && result !== 'pass')
  return failures.find((envelope) => describeSpf(envelope) !== 'unknown') ?? failures[0]
}

function spfFailureStep(failure: EnvelopeSeen, domain: string, address: string): AdviceStep {
  const { result } = failure
  const name = failure.domain ?? domain
  const mechanism = `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`
  const uses = `Its envelope sender uses ${name},`
  switch (describeSpf(failure)) {
    case 'refused':
      return {
        text: `${uses} whose SPF record does not allow this address (${result}). If only you send from this address, add it to that record before “all”. Otherwise add the “include:” that the service documents.`,
        publish: { name, type: 'TXT', value: mechanism },
      }
    case 'broken':
      return {
        text: `${uses} whose SPF record has an error, so that receivers cannot evaluate it (permerror). Check ${name} and repair that record first.`,
        publish: null,
      }
    case 'missing':
      // A neutral “all” leaves all other servers as they are without a record.
      return {
        text: `${uses} which has no SPF record. Publish one that lists every server with this envelope sender. If only you send from this address, begin with this record.`,
        publish: { name, type: 'TXT', value: `v=spf1 ${mechanism} ?all` },
      }
    default:
      return {
        text:
          result === 'temperror'
            ? `${uses} but the receiver got no answer from DNS when it looked up the SPF record (temperror). This says nothing about the record. If it recurs, check the name servers of ${name}.`
            : `${uses} but the reports do not say whether its SPF record allows this address (${result}).`,
        publish: null,
      }
  }
}
