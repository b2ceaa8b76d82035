import type { ReactNode } from 'react'
import type { MailAuthResult } from '../../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../../ui/lists/facts.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { CheckKind } from './check-kind.ts'
import { mailAuth as messages } from '../messages.ts'
import { mailAuthVerdict } from './verdict.ts'
import { Warnings } from '../warnings.tsx'

export const mailAuthKind: CheckKind<MailAuthResult> = {
  name: 'dmarc',
  title: messages.title,
  path: (domain) => `/api/v1/dmarc-check?domain=${encodeURIComponent(domain)}`,
  verdict: mailAuthVerdict,
  View: ({ data }) => (
    <>
      <Warnings warnings={[...data.truncated.map(messages.truncated), ...data.warnings]} />
      {data.status !== 'NXDOMAIN' && <Records data={data} />}
    </>
  ),
}

function Records({
  data: { dmarc, spf, dkim, dkimSelectorsTried, mtaSts, tlsRpt, bimi },
}: {
  data: MailAuthResult
}) {
  const inherited = dmarc.inheritedFrom && messages.inherited(dmarc.inheritedFrom)
  const lookups = spf.found && messages.lookups(spf.lookups)
  const mode = mtaSts.policy?.mode && messages.mode(mtaSts.policy.mode)
  return (
    <Facts
      facts={[
        [messages.fields.dmarc, <Item key="dmarc" {...dmarc} note={inherited} />],
        [messages.fields.spf, <Item key="spf" {...spf} note={lookups} />],
        [messages.fields.dkim, <Keys key="dkim" dkim={dkim} tried={dkimSelectorsTried} />],
        [messages.fields.mtaSts, <Item key="sts" {...mtaSts} note={mode} />],
        [messages.fields.tlsRpt, <Item key="tls" {...tlsRpt} />],
        [messages.fields.bimi, <Item key="bimi" {...bimi} />],
      ]}
    />
  )
}

type ItemProps = { record: string | null; error?: string; note?: ReactNode }

/** A record as found. “None” means that the query succeeded and found no record. */
function Item({ record, error, note }: ItemProps) {
  if (record === null) return error === undefined ? messages.none : messages.unknown(error)
  return (
    <>
      <Values values={[record]} />
      {note && <Muted>{note}</Muted>}
    </>
  )
}

function Keys({ dkim, tried }: { dkim: MailAuthResult['dkim']; tried: number }) {
  const found = dkim.filter((key) => key.found)
  if (found.length === 0) return messages.noKeys(tried)
  return <Values values={found.map(describeKey)} />
}

function describeKey({
  selector,
  provider,
  keyType,
  keyBits,
  revoked,
  testing,
}: MailAuthResult['dkim'][number]): string {
  const strength = revoked
    ? messages.revoked
    : [keyType?.toUpperCase(), keyBits && messages.bits(keyBits)].filter(Boolean).join(' ')
  return [selector, strength, provider, testing && messages.testing].filter(Boolean).join(' · ')
}
