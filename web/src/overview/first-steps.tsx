import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { installCommand } from '../attacks/commands.ts'
import { postCommand } from '../check/curl-commands.ts'
import { accountQuery } from '../queries.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import classes from './first-steps.module.css'
import { firstSteps as messages } from './messages.ts'
import { TextWithCode } from '../ui/text/text-with-code.tsx'

type Step = { name: string; words: string; to: LinkProps['to']; command: string }

/** First steps in every module, each with a command that runs as shown. */
export function FirstSteps({ isNew }: { isNew: boolean }) {
  const { data: account } = useQuery(accountQuery)
  const steps = stepsFor(account?.email ?? 'you@example.com')
  if (isNew) {
    return (
      <Section title={messages.title}>
        <StepList steps={steps} />
      </Section>
    )
  }
  return (
    <Disclosure summary={messages.summary}>
      <StepList steps={steps} />
    </Disclosure>
  )
}

function StepList({ steps }: { steps: Step[] }) {
  return (
    <>
      <p>
        <Muted>
          {messages.intro} <Link to="/tokens">{messages.token}</Link>{' '}
          <TextWithCode text={messages.introThen} /> <a href="/docs">{messages.documentation}</a>.
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
            <Snippet what={messages.command(name)} text={command} />
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
      ...messages.steps.check,
      to: '/check',
      command: `npx portreeve check dmarc ${domain}`,
    },
    {
      ...messages.steps.monitor,
      to: '/monitoring',
      command: postCommand('/api/v1/monitoring/hosts', { host: domain }),
    },
    {
      ...messages.steps.dmarc,
      to: '/dmarc',
      command: postCommand('/api/v1/dmarc/domains', { domain }),
    },
    {
      ...messages.steps.migrate,
      to: '/migrations/new',
      command: `npx portreeve migrate --all \\\n  --source imaps://${email.replace('@', '%40')}@imap.${domain} \\\n  --destination imaps://${email.replace('@', '%40')}@imap.new.example`,
    },
    {
      ...messages.steps.attacks,
      to: '/attacks',
      command: installCommand({ blocks: true }),
    },
    {
      ...messages.steps.webhook,
      to: '/hooks',
      command: postCommand('/api/webhook/endpoints', { label: 'first' }),
    },
  ]
}
