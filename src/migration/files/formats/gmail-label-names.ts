/** What a label of Gmail’s own stands for. `other`: nothing that mail programs keep. */
export type LabelRole =
  | 'inbox'
  | 'sent'
  | 'drafts'
  | 'trash'
  | 'junk'
  | 'starred'
  | 'unread'
  | 'opened'
  | 'other'

/**
 * Labels as Takeout writes them in the language of the account: the names of Gmail’s folders, and
 * states of messages in singular and plural. Names of folders that mail programs use in these
 * languages, too, are in special-use.ts.
 */
const NAMES: Record<LabelRole, readonly string[]> = {
  inbox: [
    'Inbox, Posteingang, Boîte de réception, Recibidos, Bandeja de entrada, Caixa de entrada',
    'Posta in arrivo, Postvak IN, Inkorgen, Inkorg, Indbakke, Innboks, Odebrane, Входящие',
    'Вхідні, Входящи, Doručené, Doručená pošta, Beérkező levelek, Beérkezett üzenetek',
    'Mesaje primite, Primite, Gelen Kutusu, Εισερχόμενα, Safata d’entrada, Postilaatikko',
    'Saapuneet, Prejeto, Pristigla pošta, Примљене, Пријемно сандуче, Gautieji, Gauti laiškai',
    'Iesūtne, Postkast, Sisendkaust, Pósthólf, Innhólf, Kotak Masuk, Peti Masuk, Hộp thư đến',
    'กล่องจดหมาย, กล่องขาเข้า, דואר נכנס, البريد الوارد, صندوق الوارد, صندوق ورودی, ان باکس',
    'इनबॉक्स, इनबक्स, ইনবক্স, ઇનબૉક્સ, இன்பாக்ஸ், ఇన్‌బాక్స్, ಇನ್‌ಬಾಕ್ಸ್, ഇൻബോക്സ്, එන ලිපි',
    'შემოსულები, Մուտքի արկղ, Մուտքային, የገቢ መልዕክት ሳጥን, ប្រអប់ទទួល, ກ່ອງຈົດໝາຍ, ဝင်စာ',
    'Ирсэн имэйл, Ирсэн, Kikasha, Ibhokisi lokungenayo, Inkassie, Gələn qutusu, Gələnlər',
    'Sarrera-ontzia, Blwch Derbyn, Bosca Isteach, 受信トレイ, 收件箱, 收件匣, 받은편지함, 받은 편지함',
  ],
  sent: [
    'Sent, Gesendet, Envoyé, Messages envoyés, Enviado, Enviados, Enviada, Mensajes enviados',
    'Emails enviados, Inviato, Inviati, Posta inviata, Messaggi inviati, Verzonden',
    'Verzonden berichten, Skickat, Skickade, Sendt, Sendte, Sendte emails, Wysłane, Wysłano',
    'Отправленные, Отправлено, Надіслані, Надіслано, Изпратени, Изпратена поща, Odesláno',
    'Odeslané, Odeslaná pošta, Odoslané, Odoslaná pošta, Elküldött, Elküldött levelek',
    'Trimise, Mesaje trimise, Gönderildi, Gönderilmiş Postalar, Gönderilenler, Απεσταλμένα',
    'Απεσταλμένη αλληλογραφία, Enviats, Correu enviat, Lähetetyt, Lähetetty, Poslano, Poslane',
    'Poslana pošta, Послато, Послате, Послата пошта, Išsiųsta, Išsiųsti, Išsiųsti laiškai',
    'Nosūtīts, Nosūtītie, Nosūtītās vēstules, Saadetud, Saadetud kirjad, Sendur póstur',
    'Terkirim, Surat Terkirim, Dihantar, Mel Dihantar, Đã gửi, Thư đã gửi, ส่งแล้ว',
    'จดหมายที่ส่งแล้ว, נשלח, דואר יוצא, דואר שנשלח, المرسلة, المرسل, البريد المرسل, بريد مرسل',
    'ارسال‌شده, پیام‌های ارسالی, فرستاده‌شده, भेजा गया, भेजे गए, प्रेषित, भेजी गई मेल',
    'প্রেরিত, મોકલેલા, पाठवले, पाठवलेले, அனுப்பியவை, పంపినవి, పంపబడింది, ಕಳುಹಿಸಿದ, അയച്ചവ',
    'გაგზავნილი, გაგზავნილები, Ուղարկված, Илгээсэн, Gestuur, Göndərilmiş, Göndərilənlər',
    'Bidalita, Bidalitakoak, Correo enviado, Imetumwa, Okuthunyelwe, Anfonwyd, Seolta, 送信済み',
    '送信済みメール, 已发送, 已发邮件, 已傳送, 已寄出, 寄件備份, 보낸편지함, 보낸 편지함, 보낸메일함',
  ],
  drafts: [
    'Drafts, Draft, Entwürfe, Entwurf, Brouillons, Brouillon, Borradores, Borrador, Rascunhos',
    'Rascunho, Bozze, Bozza, Concepten, Concept, Utkast, Kladder, Kladde, Wersje robocze',
    'Wersja robocza, Szkice, Черновики, Черновик, Чернетки, Чернетка, Чернови, Чернова',
    'Koncepty, Koncept, Rozepsané, Piszkozatok, Piszkozat, Mesaje nefinalizate, Ciorne',
    'Ciornă, Taslaklar, Taslak, Πρόχειρα, Πρόχειρο, Esborranys, Esborrany, Luonnokset',
    'Luonnos, Osnutki, Osnutek, Skice, Skica, Nacrti, Нацрти, Недовршене, Juodraščiai',
    'Juodraštis, Melnraksti, Melnraksts, Mustandid, Mustand, Drög, Draf, Bản nháp, Thư nháp',
    'ร่างจดหมาย, จดหมายร่าง, טיוטות, טיוטה, المسودات, مسودات, مسودة, پیش‌نویس‌ها, پیش‌نویس',
    'मसौदे, मसौदा, ड्राफ़्ट, ड्राफ्ट, খসড়া, ડ્રાફ્ટ, வரைவுகள், చిత్తుప్రతులు, డ్రాఫ్ట్‌లు',
    'ಡ್ರಾಫ್ಟ್‌ಗಳು, ഡ്രാഫ്റ്റുകൾ, მონახაზები, დრაფტები, Սևագրեր, Ноорог, Konsepte, Qaralamalar',
    'Zirriborroak, Rasimu, Okusalungiswa, Drafftiau, Dréachtaí, 下書き, 草稿, 草稿箱, 임시보관함, 임시 보관함',
  ],
  trash: [
    'Trash, Bin, Papierkorb, Corbeille, Papelera, Lixeira, Lixo, Reciclagem, Cestino',
    'Prullenbak, Papperskorgen, Papperskorg, Papirkurv, Papirkurven, Kosz, Корзина, Кошик',
    'Кошче, Koš, Kôš, Kuka, Lomtár, Coș de gunoi, Coş de gunoi, Çöp Kutusu, Çöp',
    'Κάδος απορριμμάτων, Κάδος, Paperera, Roskakori, Smeti, Koš za smeće, Otpad, Smeće, Отпад',
    'Корпа, Šiukšliadėžė, Šiukšlinė, Miskaste, Atkritne, Prügikast, Rusl, Ruslafata, Sampah',
    'Tong Sampah, Thùng rác, ถังขยะ, אשפה, المهملات, سلة المهملات, زباله‌دان, ट्रैश, ট্র্যাশ',
    'ટ્રેશ, குப்பை, நீக்கியவை, ట్రాష్, ಅನುಪಯುಕ್ತ, ട്രാഷ്, ნაგავი, სანაგვე, Աղբարկղ',
    'Хогийн сав, Asblik, Zibil Qutusu, Zakarrontzia, Tupio, Udoti, Sbwriel, Bruscar, ゴミ箱, ごみ箱',
    '已删除邮件, 垃圾箱, 回收站, 垃圾桶, 휴지통',
  ],
  junk: [
    'Spam, Pourriel, Correo no deseado, Lixo eletrônico, Skräppost, Søppelpost, Roskaposti',
    'Levélszemét, Neželena pošta, Neželjeno, Нежељено, Непожељно, Спам, Ανεπιθύμητα',
    'Ανεπιθύμητη αλληλογραφία, İstenmeyen, Correu brossa, Šlamštas, Brukalai, Mēstules',
    'Surogātpasts, Rämpspost, Ruslpóstur, Thư rác, จดหมายขยะ, สแปม, ספאם, דואר זבל',
    'غير مرغوب فيه, البريد العشوائي, هرزنامه, اسپم, स्पैम, स्पॅम, স্প্যাম, સ્પામ, ஸ்பேம்',
    'స్పామ్, ಸ್ಪ್ಯಾಮ್, സ്പാം, სპამი, Սպամ, Gemorspos, Barua taka, Sbam, Turscar, 迷惑メール, 垃圾邮件',
    '垃圾郵件, 스팸함, 스팸',
  ],
  starred: [
    'Starred, Markiert, Suivis, Suivi, Messages suivis, Destacados, Destacado, Com estrela',
    'Con estrella, Speciali, Speciale, Met ster, Stjärnmärkt, Stjärnmärkta, Stjernemarkeret',
    'Stjernemarkerede, Stjernemerket, Oznaczone gwiazdką, Z gwiazdką, Помеченные, Помечено',
    'Із зірочкою, Позначені зірочкою, Със звезда, Отметени със звезда, S hvězdičkou',
    'S hviezdičkou, Csillagozott, Cu stea, Yıldızlı, Με αστέρι, Destacats, Tähdelliset',
    'Tähdellä merkityt, Tähdellä merkitty, Z zvezdico, Sa zvjezdicom, Označeno zvjezdicom',
    'Са звездицом, Pažymėta žvaigždute, Su žvaigždute, Atzīmēti ar zvaigznīti, Ar zvaigznīti',
    'Tärniga, Stjörnumerkt, Berbintang, Có gắn dấu sao, Được gắn dấu sao, ติดดาว, מסומן בכוכב',
    'מסומנים בכוכב, مميّزة بنجمة, مميز بنجمة, المميز بنجمة, ستاره‌دار, तारांकित, তারকাচিহ্নিত',
    'તારાંકિત, நட்சத்திரமிட்டவை, నక్షత్రం గుర్తు ఉన్నవి, ನಕ್ಷತ್ರ ಹಾಕಿದ, നക്ഷത്രമിട്ടവ',
    'ვარსკვლავიანი, ვარსკვლავით მონიშნული, Աստղանշված, Одоор тэмдэглэсэн, Gester, Ulduzlu',
    'Izardunak, Zenye nyota, Okunenkanyezi, Serennog, Le réalta, スター付き, 已加星标, 已加星號, 별표편지함, 별표',
  ],
  unread: [
    'Unread, Ungelesen, Non lus, Non lu, No leídos, No leído, Não lidas, Não lidos, Não lida',
    'Não lido, Da leggere, Non letti, Non letto, Ongelezen, Oläst, Olästa, Ulæst, Ulæste',
    'Ulest, Uleste, Nieprzeczytane, Непрочитанные, Непрочитанное, Не прочитано, Непрочитані',
    'Непрочитано, Непрочетени, Непрочетено, Nepřečtené, Nepřečteno, Neprečítané, Olvasatlan',
    'Necitite, Necitit, Okunmamış, Okunmadı, Μη αναγνωσμένα, Μη αναγνωσμένο, Αδιάβαστα',
    'No llegits, No llegit, Lukematta, Lukemattomat, Lukematon, Neprebrano, Neprebrana',
    'Nepročitano, Neskaityta, Neskaityti, Nelasīts, Nelasīti, Nelasītas, Lugemata, Ólesið',
    'Ólesinn, Belum dibaca, Chưa đọc, ยังไม่ได้อ่าน, ยังไม่อ่าน, לא נקרא, לא נקראו, שלא נקראו',
    'غير مقروءة, غير مقروء, خوانده‌نشده, خوانده نشده, अपठित, অপঠিত, ન વાંચેલ, વંચાયેલ નથી',
    'न वाचलेले, படிக்காதவை, చదవనివి, ಓದದಿರುವ, വായിക്കാത്തവ, წაუკითხავი, Չկարդացված, Уншаагүй',
    'Ongelees, Oxunmamış, Irakurri gabeak, Irakurri gabe, Non lidas, Non lidos, Haijasomwa',
    'Okungafundiwe, Heb ei ddarllen, Gan léamh, 未読, 未读, 未读邮件, 未讀, 未讀取, 읽지않음, 읽지 않음, 안읽음, 안 읽음',
    '읽지않은 메일',
  ],
  opened: [
    'Opened, Geöffnet, Ouvert, Ouverts, Abierto, Abiertos, Leído, Leídos, Aberto',
    'Abertos, Aberta, Abertas, Lidas, Aperto, Aperti, Geopend, Gelezen, Öppnad',
    'Öppnade, Öppnat, Läst, Åbnet, Åbnede, Læst, Åpnet, Åpnede, Otwarte, Otworzono',
    'Przeczytane, Открытые, Открыто, Прочитанные, Прочитано, Відкриті, Відкрито, Прочитані',
    'Отворени, Отворено, Otevřeno, Otevřené, Přečtené, Otvorené, Prečítané, Megnyitva',
    'Megnyitott, Olvasott, Deschise, Deschis, Citite, Açıldı, Açılmış, Okundu, Ανοιγμένα',
    'Ανοιγμένο, Ανοίχτηκε, Oberts, Obert, Avattu, Avatut, Luettu, Odprto, Otvoreno, Atidaryta',
    'Atidaryti, Atvērts, Atvērti, Avatud, Opnað, Dibuka, Telah Dibaca, Đã mở, Đã đọc',
    'เปิดแล้ว, อ่านแล้ว, נפתח, נפתחו, נקרא, مفتوحة, تم فتحها, تم الفتح, مقروءة, بازشده',
    'باز شده, खोला गया, खोले गए, খোলা হয়েছে, ખોલેલ, उघडले, திறக்கப்பட்டது, తెరిచినవి',
    'ತೆರೆಯಲಾಗಿದೆ, തുറന്നു, გახსნილი, Բացված, Нээсэн, Oopgemaak, Açılıb, Irekita, Imefunguliwa',
    'Okuvuliwe, Agorwyd, Oscailte, 開封済み, 既読, 已打开, 已读, 已開啟, 已讀, 열림, 읽음, 열어봄, 연 메일',
  ],
  other: [
    // Archived.
    'Archived, Archiviert, Archivé, Archivés, Messages archivés, Archivado, Archivados',
    'Arquivado, Arquivados, Arquivada, Archiviato, Archiviati, Messaggi archiviati',
    'Gearchiveerd, Arkiverad, Arkiverade, Arkiverat, Arkiveret, Arkiverede, Arkivert',
    'Zarchiwizowane, Zarchiwizowano, В архиве, Архивированные, Архивировано, Заархивированные',
    'Заархивировано, Архівовані, Архівовано, В архіві, Архивирани, Архивирано, Archivováno',
    'Archivované, Archivált, Archiválva, Arhivate, Arhivat, Arşivlendi, Arşivlenmiş',
    'Arşivlenenler, Αρχειοθετημένα, Αρχειοθετήθηκε, Arxivats, Arxivat, Arkistoitu',
    'Arkistoidut, Arhivirano, Arhivirana, Suarchyvuota, Archyvuota, Arhivēts, Arhivēti',
    'Arhiveeritud, Í safni, Diarsipkan, Diarkibkan, Đã lưu trữ, เก็บถาวร, เก็บแล้ว',
    'הועבר לארכיון, בארכיון, مؤرشفة, مؤرشف, تمت الأرشفة, بایگانی‌شده, بایگانی شده, संग्रहीत',
    'संग्रहित, আর্কাইভ করা, આર્કાઇવ કરેલ, காப்பகப்படுத்தியவை, ఆర్కైవ్ చేయబడింది, დაარქივებული',
    'Արխիվացված, Архивласан, Geargiveer, Arxivləşdirilib, Artxibatuta, Arquivadas',
    'Imewekwa kwenye kumbukumbu, アーカイブ済み, アーカイブ, 已归档, 已存档, 已封存, 보관됨, 보관처리됨',
    // Important.
    'Important, Wichtig, Importants, Importantes, Importante, Importanti, Belangrijk, Viktigt',
    'Viktig, Viktiga, Vigtigt, Vigtige, Vigtig, Viktige, Ważne, Важное, Важные, Важливі',
    'Важливо, Важни, Важно, Důležité, Dôležité, Fontos, Önemli, Σημαντικά, Σημαντικό, Tärkeät',
    'Tärkeä, Tärkeää, Pomembno, Važno, Svarbu, Svarbūs, Svarīgi, Svarīgs, Oluline, Olulised',
    'Mikilvægt, Penting, Quan trọng, สำคัญ, חשוב, חשובים, مهمة, مهم, महत्वपूर्ण, महत्त्वाचे',
    'গুরুত্বপূর্ণ, મહત્વપૂર્ણ, முக்கியமானவை, ముఖ్యమైనవి, ಪ್ರಮುಖ, പ്രധാനപ്പെട്ടവ',
    'მნიშვნელოვანი, Կարևոր, Чухал, Belangrike, Vacib, Garrantzitsua, Muhimu, Okubalulekile',
    'Pwysig, Tábhachtach, 重要, 重要メール, 重要邮件, 重要郵件, 중요편지함, 중요',
    // Chats, muted, snoozed and scheduled messages, and those of all folders.
    'Chat, Chats, Chatten, Discussions, Conversas, Czaty, Czat, Чаты, Чат, Чати, Чатове',
    'Chaty, Csevegések, Discuţii, Sohbetler, Sohbet, Συζητήσεις, Xats, Keskustelut, Klepeti',
    'Razgovori, チャット, 聊天, 即時通訊, 채팅, Muted, Ignoriert, Stummgeschaltet, Ignorés, Masqué',
    'Masqués, En sourdine, Silenciado, Silenciados, Ignorado, Ignorati, Disattivato, Gedempt',
    'Genegeerd, Ignorerad, Ignorerade, Tystad, Ignoreret, Lydløs, Wyciszone, Отключенные',
    'Игнорируемые, Ztlumeno, Ignorováno, ミュート, 已忽略, 已静音, 已靜音, 숨김, Snoozed, Zurückgestellt',
    'En attente, Pospuestos, Aplazados, Adiados, Posticipati, Gesnoozed, Snoozade, Udsat',
    'Utsatt, Odłożone, Отложенные, Відкладені, Odložené, スヌーズ中, 已延后, 已延後, 다시 알림 설정, Scheduled',
    'Geplant, Planifiés, Programados, Agendados, Programmati, Gepland, Schemalagda, Planlagt',
    'Planlagte, Zaplanowane, Запланированные, Naplánované, 予定済み, 予約送信, 已安排, 已排定時間, 예약됨',
    'All Mail, Alle Nachrichten, Tous les messages, Todos os emails, Tutti i messaggi',
    'Alle emails, Alla mejl, Al post, Wszystkie, Вся почта, Všechny zprávy, Veškerá pošta',
    'すべてのメール, 所有邮件, 所有郵件, 전체보관함',
  ],
}

/** In front of the name of a tab of the inbox: `Category Updates`, `Kategorie: "Neuigkeiten"`. */
const CATEGORY = new RegExp(
  `^(?:${[
    'category|kategorie|catégorie|categoría|categoria|categorie|kategori|kategoria|kategória',
    'kategorija|kategooria|luokka|категория|категорія|категорија|κατηγορία|danh mục|หมวดหมู่',
    'קטגוריה|الفئة|فئة|دسته|श्रेणी|カテゴリ|カテゴリー|类别|分类|類別|카테고리',
  ].join('|')})(?:[\\s:：_]|$)`,
  'u',
)

const ROLES = new Map<string, LabelRole>(
  Object.entries(NAMES).flatMap(([role, lines]) =>
    lines
      .flatMap((line) => line.split(', '))
      .map((name): [string, LabelRole] => [keyOf(name), role as LabelRole]),
  ),
)

/** What a label stands for; null for a label of the user. */
export function roleOfLabel(label: string): LabelRole | null {
  const key = keyOf(label)
  return ROLES.get(key) ?? (CATEGORY.test(key) ? 'other' : null)
}

/** Spellings that look the same are the same. */
function keyOf(label: string): string {
  return label
    .normalize('NFKC')
    .replace(/[\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/[’‘`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/\be-mail/g, 'email')
}
