import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { signedIn as messages } from '../account/messages.ts'
import { announceSession } from '../session.ts'
import { Page } from '../ui/layout/page.tsx'

/** Where a sign-in in a tab of its own ends: it tells the other tabs, and closes itself. */
export function Screen() {
  useEffect(() => {
    announceSession('signed-in')
    window.close()
  }, [])
  return (
    <Page title={messages.title} lead={messages.text} narrow>
      <p>
        <Link to="/home">{messages.home}</Link>
      </p>
    </Page>
  )
}
