import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { joinCommand } from '../attacks/commands.ts'
import { postCommand } from '../check/curl.ts'
import { accountQuery } from '../queries.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import classes from './first-steps.module.css'

type Step = { name: string; words: string; to: LinkProps['to']; command: string }

/** What can be begun, each with a command that runs as it stands. */
export function FirstSteps({ isNew }: { isNew: boolean }) {
  const { data: account } = useQuery(accountQuery)
  const steps = stepsFor(account?.email ?? 'you@example.com')
  if (isNew) {
    return (
      <Section title="First steps">
        <StepList steps={steps} />
      </Section>
    )
  }
  return (
    <Disclosure summary="What can be begun, as commands">
      <StepList steps={steps} />
    </Disclosure>
  )
}

function StepList({ steps }: { steps: Step[] }) {
  return (
    <>
      <p>
        <Muted>
          Each begins on its screen: follow its name. Or run its command, after you made a{' '}
          <Link to="/tokens">token</Link> and typed <code>export PORTREEVE_TOKEN=prv_…</code>. Everything is in the{' '}
          <a href="/docs">documentation</a>.
        </Muted>
      </p>
      <ul className={classes.steps} data-rows>
        {steps.map(({ name, words, to, command }) => (
          <li key={name}>
            <h3>
              <Link to={to}>{name}</Link>
            </h3>
            <p>
              <Muted>{words}</Muted>
            </p>
            <Snippet what={`the command: ${name}`} text={command} />
          </li>
        ))}
      </ul>
    </>
  )
}

function stepsFor(email: string): Step[] {
  const domain = email.split('@')[1] ?? 'example.com'
  return [
    {
      name: 'Check a domain',
      words: 'DMARC, SPF and DKIM, the certificate, the DNS records. Where Portreeve is installed, with no token.',
      to: '/check',
      command: `npx portreeve check dmarc ${domain}`,
    },
    {
      name: 'Watch a host',
      words: 'Blacklists, certificate and records, day and night; you are told once when something has changed.',
      to: '/monitoring',
      command: postCommand('/api/v1/monitoring/hosts', { host: domain }),
    },
    {
      name: 'Receive DMARC reports',
      words:
        'Who sends mail in your domain’s name, and whether its policy may be tightened. The answer has the record.',
      to: '/dmarc',
      command: postCommand('/api/v1/dmarc/domains', { domain }),
    },
    {
      name: 'Move a mailbox',
      words: 'Folders, messages, flags and dates; every message is accounted for. It asks for the passwords.',
      to: '/migrations/new',
      command: `npx portreeve migrate --all \\\n  --source imaps://${email.replace('@', '%40')}@imap.${domain} \\\n  --destination imaps://${email.replace('@', '%40')}@imap.new.example`,
    },
    {
      name: 'Report and block attackers',
      words: 'Joins a server’s fail2ban to this Portreeve.',
      to: '/attacks',
      command: joinCommand({ blocks: true }),
    },
    {
      name: 'Catch a webhook',
      words: 'An address that keeps every request sent to it. The answer has it.',
      to: '/hooks',
      command: postCommand('/api/webhook/endpoints', { label: 'first' }),
    },
  ]
}
