import { useSearch } from '@tanstack/react-router'
import { BlacklistPanel } from '../check/blacklist-panel.tsx'
import { CheckBox } from '../check/check-box.tsx'
import { DnsPanel } from '../check/dns-panel.tsx'
import { MailAuthPanel } from '../check/mail-auth-panel.tsx'
import { guessTarget, type Target } from '../check/target.ts'
import { TlsPanel } from '../check/tls-panel.tsx'
import { Page } from '../ui/page.tsx'

export function Screen() {
  const { q = '' } = useSearch({ from: '/own/check' })
  const target = guessTarget(q)
  return (
    <Page
      title={target ? `Check of ${target.name}` : 'Check'}
      lead={
        target
          ? undefined
          : 'Type what you have: a domain, a web or e-mail address, or an IPv4 address. What can be asked about it is asked at once.'
      }
    >
      <CheckBox initial={q} autoFocus={!target} />
      {target && <Panels key={target.name} {...target} />}
    </Page>
  )
}

function Panels({ kind, name }: Target) {
  if (kind === 'address') return <BlacklistPanel ip={name} />
  return (
    <>
      <MailAuthPanel domain={name} />
      <TlsPanel domain={name} />
      <DnsPanel domain={name} />
    </>
  )
}
