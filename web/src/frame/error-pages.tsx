import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PublicFrame } from './public-frame.tsx'
import { errors as messages } from './messages.ts'

export function NotFoundPage() {
  return (
    <PublicFrame>
      <Page title={messages.notFoundTitle} lead={messages.notFoundLead}>
        <p>
          <Link to="/">{messages.home}</Link>
        </p>
      </Page>
    </PublicFrame>
  )
}

/**
 * Shown when a screen fails: a release replaced its files, the service is unavailable, or there is
 * a defect.
 */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <PublicFrame>
      <Page title={messages.brokenTitle}>
        <Notice tone="bad">{isMissingFile(error) ? messages.newVersion : messageOf(error)}</Notice>
        <div>
          {isMissingFile(error) ? (
            <Button onClick={() => window.location.reload()}>{messages.reload}</Button>
          ) : (
            <Button onClick={() => void router.invalidate()}>{messages.tryAgain}</Button>
          )}
        </div>
      </Page>
    </PublicFrame>
  )
}

/** Browsers report a script or style sheet that a release replaced in these words. */
const MISSING_FILE = /preload CSS|dynamically imported module|importing a module script/i

function isMissingFile(error: unknown): boolean {
  return navigator.onLine && MISSING_FILE.test(messageOf(error))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
