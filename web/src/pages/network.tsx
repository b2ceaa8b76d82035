import { Link } from '@tanstack/react-router'
import { NetworkPanel } from '../attacks/network-panel.tsx'
import { installCommand } from '../attacks/commands.ts'
import { network as messages } from '../attacks/messages.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'

export function Screen() {
  return (
    <Page title={messages.title} lead={messages.lead}>
      <NetworkPanel every={15_000} />
      <Section title={messages.join}>
        <p>
          <Muted>{messages.joinText}</Muted>
        </p>
        <Snippet what={messages.command} text={installCommand({})} />
      </Section>
      <p>
        <Muted>{messages.oneAddress}</Muted> <Link to="/address">{messages.lookup}</Link>
      </p>
    </Page>
  )
}
