import { sortBySeverity, type Advice } from '../../protocols/advice.ts'
import { adviceOnBimi } from '../../protocols/mail/bimi.ts'
import { adviceOnDkim } from '../../protocols/dkim/dkim-advice.ts'
import { adviceOnDmarc } from '../../protocols/dmarc/dmarc-advice.ts'
import { adviceOnMtaSts } from '../../protocols/mail/mta-sts.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { adviceOnSpf } from '../../protocols/spf/spf-advice.ts'
import { permitsNoSender } from '../../protocols/spf/spf-record.ts'
import { adviceOnTlsRpt } from '../../protocols/mail/tls-rpt.ts'
import { receivingHosts } from '../../protocols/mail/mail-use.ts'
import type { MailFacts } from './mail-auth-facts.ts'

/**
 * Lists problems of a domain’s email authentication and possible improvements, the most severe
 * first.
 */
export function mailAdvice(domain: string, asked: string[], facts: MailFacts): Advice[] {
  const { own, mailUse, hasObsoleteType, dmarc, destinations, spf, dkim, mtaSts, tlsRpt, bimi } =
    facts
  const usesMail = own.exists && usesMailAtAll(facts)
  const onDmarc = adviceOnDmarc({
    discovery: dmarc,
    destinations,
    usesMail,
    receivesMail: receivesMailAtAll(facts),
    texts: own.texts,
    registeredDomain: registeredDomain(domain) ?? domain,
  })
  // Nothing else can be checked for a name that does not exist.
  if (!own.exists) return sortBySeverity(onDmarc)
  const { providers, probe } = dkim
  const sendsMail = sendsMailAtAll(facts)
  const include = providers.find((provider) => provider.include)?.include ?? null
  return sortBySeverity([
    ...onDmarc,
    ...adviceOnSpf({
      domain,
      tree: spf,
      texts: own.texts,
      mailUse,
      sendsMail,
      include,
      hasObsoleteType,
    }),
    ...adviceOnDkim({ domain, probe, asked, providers, sendsMail }),
    ...adviceOnMtaSts({
      domain,
      found: mtaSts.found,
      fetched: mtaSts.fetched,
      exchanges: usesMail ? receivingHosts(domain, mailUse) : [],
      now: new Date(),
    }),
    ...adviceOnTlsRpt(domain, tlsRpt, mailUse.receives === 'mx'),
    ...adviceOnBimi(bimi, dmarc),
  ])
}

type UseFacts = Pick<MailFacts, 'mailUse' | 'spf' | 'dkim'>

/**
 * False only when everything indicates it: SPF allows no sender, there is no key to sign with, and
 * there is no MX. A host without MX receives mail at its address (RFC 5321, 5.1), unless its SPF
 * record states that it sends none.
 */
export function usesMailAtAll(facts: UseFacts): boolean {
  const { record, error } = facts.spf.root
  const maySend = error !== null || (record !== null && !statesNoSender(facts.spf))
  return receivesMailAtAll(facts) || maySend || hasKey(facts.dkim)
}

/** False for a domain that only sends, too: it has a null MX, or neither MX nor address. */
export function receivesMailAtAll({ mailUse: { receives }, spf }: UseFacts): boolean {
  return receives !== 'nothing' && !(receives === 'address' && statesNoSender(spf))
}

/** False for a domain that only receives, too: SPF allows no sender, and there is no key. */
export function sendsMailAtAll(facts: UseFacts): boolean {
  return usesMailAtAll(facts) && (!statesNoSender(facts.spf) || hasKey(facts.dkim))
}

function statesNoSender({ root: { record } }: UseFacts['spf']): boolean {
  return record !== null && permitsNoSender(record)
}

function hasKey({ probe }: UseFacts['dkim']): boolean {
  return probe.findings.some(({ key }) => key && !key.revoked)
}
