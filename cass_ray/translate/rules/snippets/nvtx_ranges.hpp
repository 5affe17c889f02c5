#ifndef CASS_NVTX_RANGES
#define CASS_NVTX_RANGES
#include <roctracer/roctx.h>
#include <string>
#include <utility>
// NVTX for C++: roctx has the message alone, no domains, colours, categories or payloads.
namespace nvtx3 {
struct domain {
    struct global {};
    template <typename D = global>
    static const domain& get() {
        static const domain one{};
        return one;
    }
};
struct rgb {
    template <typename T>
    constexpr rgb(T, T, T) noexcept {}
};
struct argb {
    template <typename T>
    constexpr argb(T, T, T, T) noexcept {}
};
struct color {
    template <typename T>
    constexpr color(T) noexcept {}
};
struct payload {
    template <typename T>
    constexpr payload(T) noexcept {}
};
struct category {
    constexpr category(unsigned) noexcept {}
};
template <typename D = domain::global>
struct named_category_in : category {
    named_category_in(unsigned id, const char*) noexcept : category(id) {}
    template <typename C>
    static const named_category_in& get() {
        static const named_category_in one(C::id, C::name);
        return one;
    }
};
using named_category = named_category_in<>;
template <typename D = domain::global>
struct registered_string_in {
    std::string text;
    explicit registered_string_in(std::string given) : text(std::move(given)) {}
    template <typename M>
    static const registered_string_in& get() {
        static const registered_string_in one(M::message);
        return one;
    }
};
using registered_string = registered_string_in<>;
struct message {
    std::string text;
    message(const char* given) : text(given) {}
    message(const std::string& given) : text(given) {}
    message(const wchar_t*) {}
    template <typename D>
    message(const registered_string_in<D>& given) : text(given.text) {}
};
class event_attributes {
   public:
    event_attributes() = default;
    event_attributes(const event_attributes&) = default;
    template <typename... T>
    explicit event_attributes(const T&... parts) {
        const int each[] = {0, (take(parts), 0)...};
        (void)each;
    }
    const char* text() const { return text_.c_str(); }

   private:
    void take(const char* given) { text_ = given; }
    void take(char* given) { text_ = given; }
    void take(const std::string& given) { text_ = given; }
    void take(const message& given) { text_ = given.text; }
    template <typename D>
    void take(const registered_string_in<D>& given) { text_ = given.text; }
    template <typename T>
    void take(const T&) {}
    std::string text_;
};
template <typename D = domain::global>
struct scoped_range_in {
    template <typename... T>
    explicit scoped_range_in(const T&... parts) { roctxRangePushA(event_attributes(parts...).text()); }
    scoped_range_in(const scoped_range_in&) = delete;
    scoped_range_in& operator=(const scoped_range_in&) = delete;
    ~scoped_range_in() { roctxRangePop(); }
};
using scoped_range = scoped_range_in<>;
struct range_handle {
    roctx_range_id_t id;
};
template <typename D = domain::global, typename... T>
range_handle start_range_in(const T&... parts) { return {roctxRangeStartA(event_attributes(parts...).text())}; }
template <typename... T>
range_handle start_range(const T&... parts) { return start_range_in<domain::global>(parts...); }
template <typename D = domain::global>
void end_range_in(range_handle range) { roctxRangeStop(range.id); }
inline void end_range(range_handle range) { roctxRangeStop(range.id); }
template <typename D = domain::global>
class unique_range_in {
   public:
    template <typename... T>
    explicit unique_range_in(const T&... parts) : range_(start_range(parts...)), owns_(true) {}
    unique_range_in(unique_range_in&& other) noexcept : range_(other.range_), owns_(std::exchange(other.owns_, false)) {}
    unique_range_in& operator=(unique_range_in&& other) noexcept {
        std::swap(range_, other.range_);
        std::swap(owns_, other.owns_);
        return *this;
    }
    ~unique_range_in() {
        if (owns_) end_range(range_);
    }

   private:
    range_handle range_;
    bool owns_;
};
using unique_range = unique_range_in<>;
template <typename D = domain::global, typename... T>
void mark_in(const T&... parts) { roctxMarkA(event_attributes(parts...).text()); }
template <typename... T>
void mark(const T&... parts) { mark_in<domain::global>(parts...); }
}  // namespace nvtx3
#define NVTX3_FUNC_RANGE_IN(D) const ::nvtx3::scoped_range_in<D> nvtx3_range_of_function(__func__)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#endif
