/** Texts of the shared components. */
export const messages = {
  brand: 'Portreeve',
  loadingScreen: 'Loading…',
  toast: { close: 'Close' },
  confirm: { cancel: 'Cancel' },
  copy: { copy: 'Copy', copied: 'Copied', announcement: 'Copied.' },
  pagination: {
    label: 'Pages',
    newer: 'Newer',
    older: 'Older',
    position: (page: number, totalPages: number) => `Page ${page} of ${totalPages}`,
  },
  connection: { live: 'Live', connecting: 'Connecting', broken: 'Reconnecting' },
  theme: { label: 'Theme', light: 'Light', dark: 'Dark', auto: 'System' },
  form: { showPassword: 'Show password' },
  steps: { change: '(change)' },
  dayStrip: { today: 'today' },
  chart: {
    /** Read by screen readers in place of “application”. */
    role: 'interactive chart',
    hint: 'Use the arrow keys to move between points, Enter to open one, Escape to close.',
    table: 'Show as table',
    value: (name: string, value: string) => `${name} ${value}`,
  },
  time: {
    justNow: 'just now',
    minutesAgo: (minutes: number) => `${minutes} min ago`,
    withinLastHour: 'within the last hour',
    hourAgo: '1 hour ago',
    hoursAgo: (hours: number) => `${hours} hours ago`,
    inHourFrom: (time: string) => `In the hour from ${time}`,
  },
  percentage: (percent: number) => `${percent > 0 && percent < 1 ? '< 1' : Math.round(percent)}%`,
} as const
