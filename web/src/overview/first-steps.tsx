import { inGuide } from '../frame/guide-page.ts'
import { useQuery } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { inService } from '../base-path.ts'
import { accountQuery } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Section } from '../ui/layout/page.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import classes from './first-steps.module.css'
import { firstSteps as messages } from './messages.ts'
import type { Progress } from './use-overview.ts'

type StepName = keyof typeof messages.steps
type Step = { name: StepName; isDone: boolean; link: Pick<LinkProps, 'to' | 'params'> }

/** What a new user can do, one step a module. Closed once something is set up, and gone at the end. */
export function FirstSteps({ isNew, progress }: { isNew: boolean; progress: Progress }) {
  const { data: account } = useQuery(accountQuery)
  const domain = account?.email.split('@')[1] ?? null
  const steps = stepsFor(domain, progress)
  const done = steps.filter(({ isDone }) => isDone).length
  if (done === steps.length) return null
  if (!isNew)
    return (
      <Disclosure summary={messages.summary(done, steps.length)}>
        <StepList steps={steps} domain={domain} />
      </Disclosure>
    )
  return (
    <Section title={messages.title}>
      <StepList steps={steps} domain={domain} />
      <p>
        <Muted>
          <a href={inGuide('tutorial.html')}>{messages.tutorial}</a>. {messages.commandLine}{' '}
          <a href={inService('/docs')}>{messages.documentation}</a>.
        </Muted>
      </p>
    </Section>
  )
}

function stepsFor(domain: string | null, progress: Progress): Step[] {
  return [
    {
      name: 'check',
      isDone: progress.domains || progress.hosts,
      link: domain === null ? { to: '/domains' } : { to: '/domains/$domain', params: { domain } },
    },
    { name: 'dmarc', isDone: progress.domains, link: { to: '/dmarc' } },
    { name: 'mailTest', isDone: progress.mailTests, link: { to: '/mail-tests' } },
    { name: 'monitor', isDone: progress.hosts, link: { to: '/monitoring' } },
    { name: 'migrate', isDone: progress.migrations, link: { to: '/migrations/new' } },
    { name: 'webhook', isDone: progress.endpoints, link: { to: '/hooks' } },
    { name: 'attacks', isDone: progress.servers, link: { to: '/attacks/servers' } },
  ]
}

function StepList({ steps, domain }: { steps: Step[]; domain: string | null }) {
  const first = steps.find(({ isDone }) => !isDone)
  return (
    <ol className={classes.steps} data-rows>
      {steps.map(({ name, isDone, link }) => {
        const { title, text, action } = messages.steps[name]
        return (
          <li key={name} data-done={isDone}>
            <span className={classes.mark}>
              {isDone && <Icon name="done" size={14} />}
              {isDone && <VisuallyHidden>{messages.done}</VisuallyHidden>}
            </span>
            <div>
              <h3>{title}</h3>
              <p>
                <Muted>{text}</Muted>
              </p>
            </div>
            <ButtonLink {...link} kind={name === first?.name ? 'primary' : 'plain'}>
              {name === 'check' && domain !== null ? messages.checkDomain(domain) : action}
            </ButtonLink>
          </li>
        )
      })}
    </ol>
  )
}
