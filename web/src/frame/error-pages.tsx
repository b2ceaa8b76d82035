import { useQuery } from '@tanstack/react-query'
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isTemporary } from '../api.ts'
import { watchReachability } from '../reachability.ts'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ScreenSkeleton } from '../ui/feedback/skeleton.tsx'
import { Page } from '../ui/layout/page.tsx'
import { accountQuery } from '../queries.ts'
import { AccountFrame } from './account-frame.tsx'
import { MissingScreenError, reloadOnce } from './load-screen.ts'
import { PublicFrame } from './public-frame.tsx'
import { errors as messages } from './messages.ts'

/** An unknown address: with the menu for those who are signed in. */
export function NotFoundPage() {
  const { data: account, isPending } = useQuery(accountQuery)
  if (isPending) return <PublicFrame>{null}</PublicFrame>
  const page = (
    <Page title={messages.notFoundTitle} lead={messages.notFoundLead}>
      <p>
        {account ? (
          <Link to="/home">{messages.overview}</Link>
        ) : (
          <Link to="/">{messages.home}</Link>
        )}
      </p>
    </Page>
  )
  return account ? <AccountFrame>{page}</AccountFrame> : <PublicFrame>{page}</PublicFrame>
}

/** Replaces everything when the frame itself fails. */
export function ErrorPage(props: ErrorComponentProps) {
  return (
    <PublicFrame>
      <ScreenError {...props} />
    </PublicFrame>
  )
}

/** Replaces a screen that fails, inside of its frame. */
export function ScreenError({ error }: ErrorComponentProps) {
  return error instanceof MissingScreenError ? (
    <MissingScreen screen={error.screen} />
  ) : (
    <BrokenScreen error={error} />
  )
}

/** A release replaced the files of the page. */
function MissingScreen({ screen }: { screen: string }) {
  const [isReloading, setReloading] = useState(true)
  useEffect(() => setReloading(reloadOnce(screen)), [screen])
  if (isReloading) return <ScreenSkeleton />
  return (
    <Page title={messages.brokenTitle}>
      <Notice tone="bad">{messages.newVersion}</Notice>
      <div>
        <Button onClick={() => window.location.reload()}>{messages.reload}</Button>
      </div>
    </Page>
  )
}

/** The service is unavailable, or there is a defect. */
function BrokenScreen({ error }: { error: unknown }) {
  const router = useRouter()
  const retry = () => void router.invalidate()
  useEffect(() => {
    if (!isTemporary(error)) return undefined
    return watchReachability((isReachable) => isReachable && void router.invalidate())
  }, [error, router])
  return (
    <Page title={messages.brokenTitle}>
      <Notice tone="bad">{error instanceof Error ? error.message : String(error)}</Notice>
      <div>
        <Button onClick={retry}>{messages.tryAgain}</Button>
      </div>
    </Page>
  )
}
