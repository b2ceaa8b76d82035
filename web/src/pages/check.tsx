import { useSearch } from '@tanstack/react-router'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { CheckBox } from '../check/check-box.tsx'
import { kindsOf } from '../check/kinds.ts'
import { check as messages } from '../check/messages.ts'
import { CheckPanel } from '../check/panel.tsx'
import { ShareBar, Shares } from '../check/share.tsx'
import { Delist, Watch } from '../check/ways-on.tsx'
import { guessTarget, type Target } from '../check/target.ts'
import { ExactTime } from '../ui/text/ago.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { Card, Page, Section } from '../ui/layout/page.tsx'

export function Screen() {
  const { q = '' } = useSearch({ from: '/own/check' })
  const target = guessTarget(q)
  return (
    <Page title={target ? messages.titleOf(target.name) : messages.title} lead={target ? undefined : messages.lead}>
      <CheckBox initial={q} autoFocus={!target} />
      {target ? <Panels key={target.name} target={target} /> : <Shares />}
    </Page>
  )
}

function Panels({ target }: { target: Target }) {
  return (
    <>
      <ShareBar target={target}>
        <Watch host={target.name} />
        {target.kind === 'address' && <Delist ip={target.name} />}
      </ShareBar>
      <PrintOnly>
        {messages.printedBy(window.location.host)} <ExactTime at={new Date().toISOString()} />
      </PrintOnly>
      {kindsOf(target).map((kind) => (
        <CheckPanel key={kind.name} kind={kind} target={target.name} />
      ))}
      {target.kind === 'address' && (
        <Section title={messages.attackReports}>
          <Card>
            <AddressPanel ip={target.name} />
          </Card>
        </Section>
      )}
    </>
  )
}
