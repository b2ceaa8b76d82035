import { Link } from '@tanstack/react-router'
import { NetworkPanel } from '../attacks/network-panel.tsx'
import { joinCommand } from '../attacks/commands.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'

export function Screen() {
  return (
    <Page
      title="The network in numbers"
      lead="What servers told this service about who attacks them. Reports that repeat each other count once."
    >
      <NetworkPanel every={15_000} />
      <Section title="Join with one line">
        <p>
          <Muted>
            On a server that runs fail2ban, as root. Reporting is free and needs no account; no log line, user name or
            host name is sent.
          </Muted>
        </p>
        <Snippet what="the line" text={joinCommand({ blocks: false })} />
      </Section>
      <p>
        <Muted>One address:</Muted> <Link to="/address">was it reported?</Link>
      </p>
    </Page>
  )
}
