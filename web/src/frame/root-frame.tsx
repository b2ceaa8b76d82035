import { Outlet } from '@tanstack/react-router'
import { ToastList } from '../ui/feedback/toast-list.tsx'
import { ConnectionBanner } from './connection-banner.tsx'

/** Around every screen: messages that belong to the whole tab. */
export function RootFrame() {
  return (
    <>
      <Outlet />
      <ConnectionBanner />
      <ToastList />
    </>
  )
}
