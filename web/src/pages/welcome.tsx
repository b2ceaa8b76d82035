import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { accountQuery, serviceQuery } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { HarbourIllustration } from '../ui/brand/harbour-illustration.tsx'
import { FeatureList, type Feature } from '../ui/brand/feature-list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Section, Muted } from '../ui/layout/page.tsx'

const JOBS: Feature[] = [
  {
    name: 'Checks',
    words:
      'Asks now: the DNS records of a domain, its certificate, its SPF, DKIM and DMARC, and whether an address stands on any of more than 80 blacklists.',
  },
  {
    name: 'Reports and monitoring',
    words:
      'Receives your DMARC reports, watches your hosts on the blacklists, and follows each way off them step by step.',
  },
  {
    name: 'Mailbox migration',
    words: 'Copies folders, messages, flags and dates from one IMAP server to another, and accounts for every message.',
  },
  {
    name: 'Attack reporting',
    words: 'Takes reports of attacking addresses from your servers, and gives back one shared list worth blocking.',
  },
  {
    name: 'Webhook capture',
    words: 'Gives you an address that keeps every request sent to it, and answers as you say.',
  },
]

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  if (account) return <Navigate to="/home" replace />
  return (
    <Page
      title="Keep your mail and your servers in good standing"
      lead="Portreeve is a service for people who run mail and servers. It runs on your own machine, on its own database, and five jobs are its trade."
      above={<HarbourIllustration />}
    >
      <Door />
      <Section title="What it does">
        <FeatureList features={JOBS} />
      </Section>
      <Section title="For everybody">
        <p>
          <Muted>Without an account you may ask</Muted> <Link to="/address">whether an address was reported</Link>{' '}
          <Muted>for attacks, and see</Muted> <Link to="/network">the network in numbers</Link>.
        </p>
      </Section>
      <Section title="Three ways in">
        <p>
          <Muted>
            This dashboard, a command line (<code>npx portreeve check dns example.com</code>), and an API that does
            everything the dashboard does: <a href="/docs">read its documentation</a>, or take{' '}
            <a href="/openapi.json">openapi.json</a>.
          </Muted>
        </p>
      </Section>
    </Page>
  )
}

/** Whether this Portreeve waits for its first account, or for yours. */
function Door() {
  const { data: service, error } = useQuery(serviceQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!service) return null
  if (!service.setupNeeded) {
    return (
      <Row>
        <ButtonLink to="/sign-in" kind="primary" size="large">
          Sign in
        </ButtonLink>
      </Row>
    )
  }
  return (
    <Notice tone="warn" title="No account exists yet">
      <p>
        Open the set-up link that the service printed where you started it: it makes the first account. It ends in{' '}
        <code>/setup#…</code>
      </p>
    </Notice>
  )
}
