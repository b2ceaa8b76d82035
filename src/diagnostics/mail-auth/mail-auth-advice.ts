import { sortBySeverity, type Advice } from '../../protocols/advice.ts'
import { adviceOnBimi } from '../../protocols/mail/bimi.ts'
import { adviceOnDkim } from '../../protocols/dkim/dkim-advice.ts'
import { adviceOnDmarc } from '../../protocols/dmarc/dmarc-advice.ts'
import { adviceOnMtaSts } from '../../protocols/mail/mta-sts.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { adviceOnSpf } from '../../protocols/spf/spf-advice.ts'
import { permitsNoSender } from '../../protocols/spf/spf-record.ts'
import { adviceOnTlsRpt } from '../../protocols/mail/tls-rpt.ts'
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
    texts: own.texts,
    registeredDomain: registeredDomain(domain) ?? domain,
  })
  // Nothing else can be checked for a name that does not exist.
  if (!own.exists) return sortBySeverity(onDmarc)
  const { providers, probe } = dkim
  const include = providers.find((provider) => provider.include)?.include ?? null
  const { exchanges } = mailUse
  return sortBySeverity([
    ...onDmarc,
    ...adviceOnSpf({ domain, tree: spf, texts: own.texts, mailUse, include, hasObsoleteType }),
    ...adviceOnDkim({ domain, probe, asked, providers, usesMail }),
    ...adviceOnMtaSts({
      domain,
      found: mtaSts.found,
      fetched: mtaSts.fetched,
      exchanges,
      now: new Date(),
    }),
    ...adviceOnTlsRpt(domain, tlsRpt, exchanges.length > 0),
    ...adviceOnBimi(bimi, dmarc),
  ])
}

/**
 * False only when everything indicates it: the domain receives no mail, SPF allows no sender, and
 * there is no key to sign with.
 */
export function usesMailAtAll({
  mailUse,
  spf,
  dkim,
}: Pick<MailFacts, 'mailUse' | 'spf' | 'dkim'>): boolean {
  const { record, error } = spf.root
  const maySend = error !== null || (record !== null && !permitsNoSender(record))
  const signs = dkim.probe.findings.some(({ key }) => key && !key.revoked)
  return mailUse.receives !== 'nothing' || maySend || signs
}
