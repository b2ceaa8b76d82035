import type { ReactNode } from 'react'
import type { MailAuthResult } from '../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { counted } from '../ui/text/format.ts'
import type { CheckKind } from './kind.ts'
import { mailAuthVerdict } from './verdict.ts'
import { Warnings } from './warnings.tsx'

export const mailAuthKind: CheckKind<MailAuthResult> = {
  name: 'dmarc',
  title: 'Mail protection',
  path: (domain) => `/api/v1/dmarc-check?domain=${encodeURIComponent(domain)}`,
  verdict: mailAuthVerdict,
  View: ({ data }) => (
    <>
      <Warnings
        warnings={[...data.truncated.map((what) => `Not asked, for lack of time: ${what}`), ...data.warnings]}
      />
      {data.status !== 'NXDOMAIN' && <Records data={data} />}
    </>
  ),
}

function Records({ data: { dmarc, spf, dkim, dkimSelectorsTried, mtaSts, tlsRpt, bimi } }: { data: MailAuthResult }) {
  const inherited = dmarc.inheritedFrom && `Published by ${dmarc.inheritedFrom}, and valid here too.`
  const lookups = spf.found && `Takes ${counted(spf.lookups, 'look-up')} of the 10 allowed.`
  const mode = mtaSts.policy?.mode && `Its policy is in the mode “${mtaSts.policy.mode}”.`
  return (
    <Facts
      facts={[
        ['DMARC', <Item key="dmarc" {...dmarc} note={inherited} />],
        ['SPF', <Item key="spf" {...spf} note={lookups} />],
        ['DKIM', <Keys key="dkim" dkim={dkim} tried={dkimSelectorsTried} />],
        ['MTA-STS', <Item key="sts" {...mtaSts} note={mode} />],
        ['TLS reports', <Item key="tls" {...tlsRpt} />],
        ['BIMI', <Item key="bimi" {...bimi} />],
      ]}
    />
  )
}

type ItemProps = { record: string | null; error?: string; note?: ReactNode }

/** A record as it was found; “none” only when that is known. */
function Item({ record, error, note }: ItemProps) {
  if (record === null) return error === undefined ? 'None' : `Not known: ${error}`
  return (
    <>
      <Values values={[record]} />
      {note && <Muted>{note}</Muted>}
    </>
  )
}

function Keys({ dkim, tried }: { dkim: MailAuthResult['dkim']; tried: number }) {
  const found = dkim.filter((key) => key.found)
  if (found.length === 0) return `None of the ${counted(tried, 'selector')} tried has a key.`
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
    ? 'revoked'
    : [keyType?.toUpperCase(), keyBits && `${keyBits} bits`].filter(Boolean).join(' ')
  return [selector, strength, provider, testing && 'testing'].filter(Boolean).join(' · ')
}
