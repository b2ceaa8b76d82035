import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { inService } from '../base-path.ts'
import { accountQuery, serviceQuery } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { HarbourIllustration } from '../ui/brand/harbour-illustration.tsx'
import { FeatureList } from '../ui/brand/feature-list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { signIn } from '../account/messages.ts'
import { DemoEntry } from '../account/sign-in/demo-entry.tsx'
import { isDemo } from '../frame/demo-banner.tsx'
import { frame, welcome as messages } from '../frame/messages.ts'
import { TextWithCode } from '../ui/text/text-with-code.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  if (account) return <Navigate to="/home" replace />
  return (
    <Page title={messages.title} lead={messages.lead} above={<HarbourIllustration />}>
      <EntryPoint />
      <Section title={messages.featuresTitle}>
        <FeatureList features={messages.features} />
      </Section>
      <Section title={messages.publicTitle}>
        <p>
          <Muted>{signIn.public.before}</Muted> <Link to="/address">{signIn.public.address}</Link>{' '}
          <Muted>{signIn.public.between}</Muted> <Link to="/network">{signIn.public.network}</Link>.
        </p>
      </Section>
      <Section title={messages.interfacesTitle}>
        <p>
          <Muted>
            <TextWithCode text={messages.interfaces} />{' '}
            <a href={inService('/docs')}>{messages.readDocs}</a> {messages.or}{' '}
            <a href={inService('/openapi.json')}>{frame.openApi}</a>.
          </Muted>
        </p>
      </Section>
    </Page>
  )
}

/** A sign-in button, or instructions while no account exists. */
function EntryPoint() {
  const { data: service, error } = useQuery(serviceQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (isDemo) return <DemoEntry />
  if (!service?.setupNeeded) {
    return (
      <Row>
        <ButtonLink to="/sign-in" kind="primary" size="large">
          {messages.signIn}
        </ButtonLink>
      </Row>
    )
  }
  return (
    <Notice tone="warn" title={messages.noAccountTitle}>
      <p>
        <TextWithCode text={messages.noAccount} />
      </p>
    </Notice>
  )
}
