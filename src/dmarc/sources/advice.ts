import { isIPv6 } from 'node:net'
import type { SOURCE_VERDICTS } from '../shapes.ts'
import type { SourceRow } from '../summary/store.ts'
import type { EnvelopeSeen, Identities, SignerSeen } from './identities.ts'

/** Something to publish in the DNS, or a part of it. */
export type Publishing = { name: string; type: 'TXT'; value: string }
export type Step = { text: string; publish: Publishing | null }

/** How a source fares and what to do about it; the steps are for whoever it belongs to. */
export type Advice = {
  verdict: (typeof SOURCE_VERDICTS)[number]
  sentence: string
  steps: Step[]
  /** What holds when it is not the domain owner’s; null where that makes no difference. */
  otherwise: string | null
}

type Counts = Pick<SourceRow, 'group' | 'messages' | 'aligned' | 'dkim' | 'spf'>

/**
 * What to do about one source, in plain words.
 * @param identities of all its mail, and of what failed
 */
export function adviseOn(
  domain: string,
  address: string,
  source: Counts | undefined,
  { all, failed }: { all: Identities; failed: Identities },
): Advice {
  if (!source) return { verdict: 'no-data', sentence: 'It was not seen in these days.', steps: [], otherwise: null }
  if (source.group === 'aligned') return ofAligned(domain, address, source, all)
  if (source.group === 'forwarder-like') return ofForwarder(domain, address, source, all)
  const share = source.group === 'failing' ? 'None of its mail passed' : `Some of its mail did not pass`
  return {
    verdict: source.group === 'failing' ? 'failing' : 'partly',
    sentence: `${share}: neither DKIM nor SPF spoke for ${domain}.`,
    steps: [signing(domain, failed), sending(domain, address, failed)],
    otherwise:
      source.group === 'failing'
        ? 'It sends in your name without your leave. Nothing is to be set up: a policy of p=reject has receivers refuse it.'
        : 'Then somebody who may send for you lets strangers send, too: tell whoever runs it.',
  }
}

function ofAligned(domain: string, address: string, { messages, dkim, spf }: Counts, seen: Identities): Advice {
  const good = { verdict: 'good' as const, steps: [], otherwise: null }
  if (dkim === messages && spf === messages) {
    return { ...good, sentence: 'All of its mail passed, by DKIM and by SPF. There is nothing to do.' }
  }
  if (dkim === messages) {
    const sentence = 'All of its mail passed by DKIM, which holds even where mail is passed on. Nothing has to be done.'
    return { ...good, sentence }
  }
  const part = dkim === 0 ? 'by SPF alone' : 'some of it by SPF alone'
  const sentence = `All of its mail passed, but ${part}: such mail fails wherever it is passed on.`
  return { verdict: 'half', sentence, steps: [signing(domain, seen), sending(domain, address, seen)], otherwise: null }
}

function ofForwarder(domain: string, address: string, { messages, aligned }: Counts, seen: Identities): Advice {
  const forwarder = { verdict: 'forwarder' as const, steps: [], otherwise: null }
  if (aligned < messages) {
    return {
      ...forwarder,
      sentence: 'Somebody passes your mail on, and changes it or its sender: a mailing list or a forwarding address.',
      otherwise:
        'You cannot set this up. Most receivers see that it was passed on, and take it in spite of the policy; see to it that all you send yourself is signed.',
    }
  }
  const held = 'and your signature holds all the way. There is nothing to do.'
  const refused = refusedOf(seen)
  if (!refused) return { ...forwarder, sentence: `Somebody passes your mail on, ${held}` }
  return {
    ...forwarder,
    sentence: 'All of its mail passed by your signature, though your SPF record does not name this address.',
    steps: [refusedStep(refused, domain, address)],
    otherwise: `Then somebody passes your mail on, ${held}`,
  }
}

/** DKIM: whether it signs at all, for whom, and whether that holds. */
function signing(domain: string, { signers, unsigned }: Identities): Step {
  const own = signers.filter((signer) => signer.own)
  const broken = own.find(({ result }) => result !== 'pass')
  const strange = signers.find((signer) => !signer.own && signer.result === 'pass')
  if (broken) return { text: brokenText(broken), publish: null }
  if (own.some(({ aligned }) => aligned > 0) && unsigned === 0) {
    return { text: `It signs for ${domain}, and the signature holds: leave it so.`, publish: null }
  }
  if (own.length > 0 && unsigned === 0) {
    return {
      text: 'Its signature holds but is not of the very same domain: your record asks for that (adkim=s).',
      publish: null,
    }
  }
  const now = strange
    ? `It signs as ${strange.domain ?? 'somebody else'}, which does not speak for ${domain}.`
    : 'It does not sign.'
  const text = `${now} Have it sign with DKIM for ${domain}: services call this custom DKIM or domain authentication, and name the records to publish.`
  return { text, publish: null }
}

function brokenText({ domain, selector, result }: SignerSeen): string {
  const key = selector === null ? `the key of ${domain}` : `${selector}._domainkey.${domain}`
  return `It signs for ${domain}, but the signature does not hold (${result}). Look whether ${key} has the key it signs with; if it has, something changes the mail after it was signed.`
}

/** SPF: whose bounce address it uses, and whether that domain lets it send. */
function sending(domain: string, address: string, { envelopes }: Identities): Step {
  const own = envelopes.filter((envelope) => envelope.own)
  const refused = refusedOf({ envelopes })
  const strange = envelopes.find((envelope) => !envelope.own && envelope.domain !== null)
  if (refused) return refusedStep(refused, domain, address)
  if (own.some(({ aligned }) => aligned > 0)) {
    return { text: `Its bounce address is of ${domain}, and SPF lets it send: leave it so.`, publish: null }
  }
  if (own.length > 0) {
    return { text: 'SPF passes, but not for the very same domain: your record asks for that (aspf=s).', publish: null }
  }
  const now = strange
    ? `Bounces go to ${strange.domain}, for which SPF says ${strange.result}.`
    : 'It names no bounce address.'
  const text = `${now} That does not speak for ${domain}: have it use a bounce address below ${domain}, called custom return path by many services. With DKIM in order it can stay.`
  return { text, publish: null }
}

/** A bounce address of one's own that may not be sent for from there. */
function refusedOf({ envelopes }: Pick<Identities, 'envelopes'>): EnvelopeSeen | undefined {
  return envelopes.find(({ own, result }) => own && result !== 'pass')
}

function refusedStep({ domain: own, result }: EnvelopeSeen, domain: string, address: string): Step {
  const name = own ?? domain
  const mechanism = `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`
  const refusal = result === 'none' ? 'which has no SPF record' : `whose SPF record does not let it send (${result})`
  const text = `Its bounce address is of ${name}, ${refusal}. Once you are sure that nobody else sends from this address, add it to that record, before its “all”; or the “include:” that the service names.`
  return { text, publish: { name, type: 'TXT', value: mechanism } }
}
