import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { AttackViews } from '../attacks/attack-views.tsx'
import { LookupForm } from '../attacks/lookup-form.tsx'
import { overview as messages } from '../attacks/messages.ts'
import { NetworkPanel } from '../attacks/network-panel.tsx'
import { Page, Section } from '../ui/layout/page.tsx'

export function Screen() {
  const { ip, day } = useSearch({ from: '/own/attacks' })
  const navigate = useNavigate({ from: '/attacks' })
  const open = (asked: string) => void navigate({ to: '/addresses/$ip', params: { ip: asked } })
  if (ip !== undefined) return <Navigate replace to="/addresses/$ip" params={{ ip }} />
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <AttackViews />
      <LookupForm ip="" onAsk={open} />
      <Section title={messages.network}>
        <NetworkPanel day={day} opens />
      </Section>
    </Page>
  )
}
