import { useSearch } from '@tanstack/react-router'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { CheckBox } from '../check/check-box.tsx'
import { checksFor } from '../check/kinds/check-kinds.ts'
import { check as messages } from '../check/messages.ts'
import { CheckPanel } from '../check/check-panel.tsx'
import { ShareBar, SharedResultList } from '../check/share-bar.tsx'
import { DelistAction, MonitorAction } from '../check/follow-up-actions.tsx'
import { guessTarget, type CheckTarget } from '../check/guess-target.ts'
import { ExactTime } from '../ui/text/date-text.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { Card, Page, Section } from '../ui/layout/page.tsx'

export function Screen() {
  const { q = '' } = useSearch({ from: '/own/check' })
  const target = guessTarget(q)
  return (
    <Page
      wide
      title={target ? messages.titleOf(target.name) : messages.title}
      lead={target ? undefined : messages.lead}
      rail={target?.kind === 'address' ? <AttackReports ip={target.name} /> : undefined}
    >
      <CheckBox initial={q} autoFocus={!target} />
      {target ? <Panels key={target.name} target={target} /> : <SharedResultList />}
    </Page>
  )
}

function Panels({ target }: { target: CheckTarget }) {
  return (
    <>
      <ShareBar target={target}>
        <MonitorAction host={target.name} />
        {target.kind === 'address' && <DelistAction ip={target.name} />}
      </ShareBar>
      <PrintOnly>
        {messages.printedBy(window.location.host)} <ExactTime at={new Date().toISOString()} />
      </PrintOnly>
      {checksFor(target).map((kind) => (
        <CheckPanel key={kind.name} kind={kind} target={target.name} />
      ))}
    </>
  )
}

function AttackReports({ ip }: { ip: string }) {
  return (
    <Section title={messages.attackReports}>
      <Card>
        <AddressPanel ip={ip} />
      </Card>
    </Section>
  )
}
