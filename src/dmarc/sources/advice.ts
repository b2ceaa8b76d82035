import { isIPv6 } from 'node:net'
import type { SOURCE_VERDICTS } from '../shapes.ts'
import type { SourceRow } from '../summary/store.ts'
import type { EnvelopeSeen, Identities, SignerSeen } from './identities.ts'

/** A DNS record to publish, or an addition to one. */
export type RecordAddition = { name: string; type: 'TXT'; value: string }
export type AdviceStep = { text: string; publish: RecordAddition | null }

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
    otherwise:
      source.group === 'failing'
        ? 'This sender is spoofing your domain. No setup is needed: with p=reject, receivers block it.'
        : 'A service that may send for you also lets other customers send as your domain. Report this to its operator.',
  }
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
  if (!failure) return { ...forwarder, sentence: valid }
  return {
    ...forwarder,
    sentence:
      'All of its messages passed by your signature, but your SPF record does not include this address.',
    steps: [spfFailureStep(failure, domain, address)],
    otherwise: valid,
  }
}

/**
 * The DKIM step: whether the source signs, for which domain, and whether its signatures are valid.
 */
function dkimStep(domain: string, { signers, unsigned }: Identities): AdviceStep {
  const own = signers.filter((signer) => signer.own)
  const broken = own.find(({ result }) => result !== 'pass')
  const strange = signers.find((signer) => !signer.own && signer.result === 'pass')
  if (broken) return { text: brokenText(broken), publish: null }
  if (own.some(({ aligned }) => aligned > 0) && unsigned === 0) {
    return {
      text: `It signs for ${domain}, and the signature is valid. Keep it as it is.`,
      publish: null,
    }
  }
  if (own.length > 0 && unsigned === 0) {
    return {
      text: 'Its signature is valid, but its domain differs from the From domain. Your record requires an exact match (adkim=s).',
      publish: null,
    }
  }
  const now = strange
    ? `It signs as ${strange.domain ?? 'another domain'}, which does not align with ${domain}.`
    : 'It does not sign with DKIM.'
  const text = `${now} Set up DKIM signing for ${domain}: services call this custom DKIM or domain authentication, and list the records to publish.`
  return { text, publish: null }
}

function brokenText({ domain, selector, result }: SignerSeen): string {
  const key =
    selector === null ? `the DNS record of ${domain}’s key` : `${selector}._domainkey.${domain}`
  return `It signs for ${domain}, but the signature is not valid (${result}). Check that ${key} has the matching key. If it does, something changes the messages after signing.`
}

/**
 * The SPF step: the domain of the envelope sender, and whether that domain's record includes the
 * source.
 */
function spfStep(domain: string, address: string, { envelopes }: Identities): AdviceStep {
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
    return {
      text: 'SPF passes, but its domain differs from the From domain. Your record requires an exact match (aspf=s).',
      publish: null,
    }
  }
  const now = strange
    ? `Its envelope sender uses ${strange.domain}, with the SPF result ${strange.result}.`
    : 'It has no envelope sender.'
  const text = `${now} That does not align with ${domain}. Set up an envelope sender below ${domain}; many services call it a custom return path. With valid DKIM, this is optional.`
  return { text, publish: null }
}

/** An envelope sender of the domain for which SPF does not pass from this source. */
function findSpfFailure({ envelopes }: Pick<Identities, 'envelopes'>): EnvelopeSeen | undefined {
  return envelopes.find(({ own, result }) => own && result !== 'pass')
}

function spfFailureStep(
  { domain: own, result }: EnvelopeSeen,
  domain: string,
  address: string,
): AdviceStep {
  const name = own ?? domain
  const mechanism = `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`
  const cause =
    result === 'none'
      ? 'which has no SPF record'
      : `whose SPF record does not allow this address (${result})`
  const text = `Its envelope sender uses ${name}, ${cause}. If only you send from this address, add it to that record before “all”. Otherwise add the “include:” that the service documents.`
  return { text, publish: { name, type: 'TXT', value: mechanism } }
}
