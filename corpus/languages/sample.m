#import <Foundation/Foundation.h>
@import UIKit;
#define LIMIT 10
@class Forward;
enum Level { LevelLow, LevelHigh };
typedef NS_ENUM(NSInteger, Style) {
  StylePlain,
  StyleBold NS_SWIFT_NAME(bold) = 2,
  StyleOld API_DEPRECATED("use plain", ios(2.0, 9.0)),
};
typedef NS_OPTIONS(NSUInteger, Edges) { EdgeTop = 1 << 0, EdgeLeft = 1 << 1 } NS_SWIFT_NAME(Circle.Edges);
typedef NS_ERROR_ENUM(ParserErrorDomain, ParserError) { ParserErrorEmpty = 1 };
NS_ENUM(NSInteger) { Unnamed };
typedef NSString *EventName NS_TYPED_EXTENSIBLE_ENUM;
typedef void (^Completion)(NSError *_Nullable error);
static NSString *const kName = @"name";

@protocol Drawable <NSObject>
@required
- (void)drawAtPoint:(CGPoint)point scale:(CGFloat)scale;
@optional
@property (nonatomic, readonly) CGFloat area;
+ (instancetype)shape;
@end

@interface Circle<ObjectType> : NSObject <Drawable, NSCopying> {
  @private
  CGFloat _radius;
}
@property (nonatomic, copy, nullable) NSString *title;
NS_ASSUME_NONNULL_BEGIN
@property (nonatomic, weak) id<Drawable> delegate;
- (void)stop NS_UNAVAILABLE;
- (void)reset:(NSInteger)step API_AVAILABLE(ios(13), macos(10.15));
NS_ASSUME_NONNULL_END
- (instancetype)initWithRadius:(CGFloat)radius NS_DESIGNATED_INITIALIZER;
@end

@interface Circle (Geometry)
- (CGFloat)circumference;
@end

@implementation Circle
@synthesize title = _title;
- (instancetype)initWithRadius:(CGFloat)radius {
  if (self = [super init]) { CGFloat local = radius; _radius = local; }
  return self;
}
- (void)drawAtPoint:(CGPoint)point scale:(CGFloat)scale {
  dispatch_async(dispatch_get_main_queue(), ^{ NSLog(@"%@ %@", @{@"a": @1}, @[@2]); });
  @autoreleasepool { for (id x in @[]) { @try { [x run]; } @catch (NSException *e) {} } }
}
+ (instancetype)shape { return [[self alloc] init]; }
@end

static int helper(int a) { return a; }
struct Plain { int x; };
int main(int argc, char *argv[]) { return 0; }
